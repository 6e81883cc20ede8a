// SPDX-License-Identifier: Apache-2.0
#include "oci/bundle_json.hpp"
#include "require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kcg;
  for (const bool go : {true, false}) {
    const auto state = parse_kata_state(text_of(data, size), go);
    if (!state) {
      require_good_text(state.error());
      continue;
    }
    require(state->boot_memory_mib <= UINT32_MAX, "memory fits into bytes");
    require(state->hotplugged_memory_mib <= UINT32_MAX, "memory fits into bytes");
    require(!state->containers.contains(""), "a container has an id");
  }
  return 0;
}
