// SPDX-License-Identifier: Apache-2.0
//
// Texts of configuration files -> Config (L3). Strict: unknown keys, duplicates, wrong types and
// ranges are errors, and all of them are reported at once. Reading files is observe/config_files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/config.hpp"

namespace kcg {

/// Value: one file.
struct ConfigText {
  std::string name;  ///< its path, for messages and origins
  std::string text;
};

/// Value: one thing that is wrong. Its full text is "file:line: key: text".
struct ConfigProblem {
  std::string file;
  unsigned line = 0;  ///< 0: the whole file
  std::string key;    ///< "": the whole line
  std::string text;
  [[nodiscard]] std::string full_text() const;
};

/// Later texts win key by key; arrays replace. No text at all gives the defaults. The error's text
/// has one line for each of the first 20 problems, in the order of files and lines, and says how
/// many more there are.
[[nodiscard]] Result<Config> load_config(const std::vector<ConfigText>& texts);

}  // namespace kcg
