// SPDX-License-Identifier: Apache-2.0
//
// TOML text -> flat settings (L3, private to config/): the only place that reads our files' TOML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/value.hpp"

namespace kcg {

/// Value: one key with its value, or an empty table.
struct Setting {
  std::vector<std::string> path;  ///< {"overhead", "handlers", "kata", "mib"}
  ConfigValue value;
  unsigned line = 0;
};

/// Value: all settings of one text in its order, or the place where it stops being TOML.
struct Settings {
  std::vector<Setting> settings;
  std::string error;  ///< "" if it is TOML; duplicate keys are not
  unsigned error_line = 0;
};

/// Whether an engine's runtime is Kata's, by its type or the path of its shim:
/// "io.containerd.kata.v2",
/// "/usr/bin/containerd-shim-kata-v2".
[[nodiscard]] bool names_kata(std::string_view runtime);

[[nodiscard]] Settings parse_settings(std::string_view toml);

}  // namespace kcg
