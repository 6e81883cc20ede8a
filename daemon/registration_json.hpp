// SPDX-License-Identifier: Apache-2.0
//
// Registration <-> the JSON of the state store (L8).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "model/bundle.hpp"

namespace kcg {

[[nodiscard]] nlohmann::json registration_to_json(const Registration& registration);
/// nullopt: not what registration_to_json() writes.
[[nodiscard]] std::optional<Registration> registration_from_json(const nlohmann::json& json);

}  // namespace kcg
