// SPDX-License-Identifier: Apache-2.0
//
// The daemon's configuration from disk (L5): the main file, then drop-ins.
#pragma once

#include <string>
#include <vector>

#include "config/load.hpp"

namespace kcg {

/// The directories of a real node whose config.d/ is read, later ones hide equal names of earlier.
[[nodiscard]] std::vector<std::string> default_drop_in_roots();

/// Reads `main_file` (absent is an error only if it `must_exist`), then <root>/config.d/*.toml of
/// each root in the order of the base names. The roots rise in rank: of equal names only the last
/// one is read, and an empty file there switches the others off. Links are followed, as the paths
/// are the operator's.
[[nodiscard]] Result<LoadedConfig> read_config(const std::string& main_file, bool must_exist,
                                               const std::vector<std::string>& drop_in_roots);

}  // namespace kcg
