// SPDX-License-Identifier: Apache-2.0
//
// The kinds of values that configuration keys have (L3), free of the TOML library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kcg {

/// Value: something that no key takes: "a fraction", "a table", ...
struct OtherValue {
  std::string what;
  bool operator==(const OtherValue&) const = default;
};

using ConfigValue =
    std::variant<bool, std::int64_t, std::string, std::vector<std::string>, OtherValue>;

/// As TOML: `true`, `30`, `"text"`, `["a", "b"]`; what it is for anything else.
[[nodiscard]] std::string toml_text(const ConfigValue& value);
/// One part of a dotted key, quoted where it has to be.
[[nodiscard]] std::string toml_key(std::string_view part);

}  // namespace kcg
