// SPDX-License-Identifier: Apache-2.0
//
// A file of the state directory that holds a registration.
#include <nlohmann/json.hpp>

#include "daemon/registration_json.hpp"
#include "require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kcg;
  const auto json = nlohmann::json::parse(text_of(data, size), nullptr, false);
  if (json.is_discarded()) return 0;
  const auto registration = registration_from_json(json);
  if (!registration) return 0;
  const auto again = registration_from_json(registration_to_json(*registration));
  require(again.has_value(), "what is written can be read");
  require(registration_to_json(*again) == registration_to_json(*registration), "it round-trips");
  return 0;
}
