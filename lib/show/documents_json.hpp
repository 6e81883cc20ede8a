// SPDX-License-Identifier: Apache-2.0
//
// Pieces that several JSON documents share (L4, for documents*.cpp only).
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "model/condition.hpp"
#include "model/plan.hpp"

namespace kcg::json_parts {

using Json = nlohmann::ordered_json;

/// A string of a document: whatever is not UTF-8 is replaced.
[[nodiscard]] Json text(std::string_view value);
/// Sets `key` unless the value is empty: only what is known is present.
void put_known(Json& object, const char* key, std::string_view value);

[[nodiscard]] Json texts(const std::vector<std::string>& values);
[[nodiscard]] Json text_map(const std::map<std::string, std::string>& values);
[[nodiscard]] Json overhead(const Overhead& overhead);
[[nodiscard]] Json condition(const Condition& condition);

/// {"version":1} and the fields of the one entry, or {"version":1,"sandboxes":[entries]}.
[[nodiscard]] std::string document(const std::vector<Json>& entries, bool one);

}  // namespace kcg::json_parts
