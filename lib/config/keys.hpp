// SPDX-License-Identifier: Apache-2.0
//
// The table of all configuration keys (L3). Parsing, the dump, the shipped sample, the man page's
// list and the tests derive from it; the defaults are those of model/config.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/value.hpp"
#include "model/config.hpp"

namespace kcg {

/// Value: one key. In a name like "overhead.handlers.*.mib" the star stands for a handler's name,
/// which get and set are given as `handler`; for all other keys it is "".
struct ConfigKey {
  std::string_view name;
  std::string type;  ///< what it takes, for people: "a whole number from 1 to 100"
  bool restart;      ///< a reload does not apply a change
  std::string_view text;
  ConfigValue (*get)(const Config& config, const std::string& handler);
  /// False: `value` is not what `type` says; nothing was changed.
  bool (*set)(Config& config, const std::string& handler, const ConfigValue& value);
  /// Unchecked; a key with a star copies all handlers.
  void (*copy)(const Config& from, Config& to);

  [[nodiscard]] bool per_handler() const { return name.find('*') != std::string_view::npos; }
  /// The name with the handler in place of the star.
  [[nodiscard]] std::string full_name(std::string_view handler) const;
};

/// Sections are contiguous, keys without a section come first.
[[nodiscard]] const std::vector<ConfigKey>& config_keys();

}  // namespace kcg
