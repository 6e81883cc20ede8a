// SPDX-License-Identifier: Apache-2.0
#include "kernel/last_pid.hpp"

#include "base/text.hpp"

namespace kcg {

std::optional<std::uint64_t> last_pid(std::string_view loadavg) {
  const auto fields = words(loadavg);
  return fields.size() == 5 ? parse_u64(fields.back()) : std::nullopt;
}

}  // namespace kcg
