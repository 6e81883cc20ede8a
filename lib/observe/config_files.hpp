// SPDX-License-Identifier: Apache-2.0
//
// The configuration in force (L6): the main file, then drop-ins, then the command line.
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
[[nodiscard]] Result<Config> read_config(const std::string& main_file, bool must_exist,
                                         const std::vector<std::string>& drop_in_roots);

/// Value: a key that the command line sets.
struct ConfigOption {
  std::string key;     ///< "cgroup.root"
  std::string value;   ///< "": it was not said
  std::string option;  ///< "--cgroup-root"
};

/// Value: what a command line says of the configuration.
struct ConfigChoice {
  std::string file;  ///< "": /etc/kata-cgroupd/config.toml, which may be missing, and its drop-ins
  std::vector<ConfigOption> options;
  std::string run_root;  ///< every path below /run is looked for below this; "": the node's own
};
/// What the daemon goes by, and cgctl where it looks itself. What the command line sets has to pass
/// what a file's keys have to.
[[nodiscard]] Result<Config> config_in_force(const ConfigChoice& choice);

/// A run root under its one name: absolute and clean, links resolved as far as it exists. What a
/// daemon makes is known by that name, see model/mark.hpp. "" stays.
[[nodiscard]] std::string run_root_named(const std::string& directory);

}  // namespace kcg
