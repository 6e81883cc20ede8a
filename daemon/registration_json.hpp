// SPDX-License-Identifier: Apache-2.0
//
// Registration <-> the JSON of the state store (L9).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"
#include "model/bundle.hpp"

namespace kcg {

[[nodiscard]] nlohmann::json registration_to_json(const Registration& registration);
/// An error names the key of what registration_to_json() does not write, and its value.
[[nodiscard]] Result<Registration> registration_from_json(const nlohmann::json& json);

}  // namespace kcg
