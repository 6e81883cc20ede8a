// SPDX-License-Identifier: Apache-2.0
//
// Kata's own configuration on this node (L6).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "model/bundle.hpp"
#include "model/config.hpp"

namespace kcg {

/// Value: what Kata's configuration.toml says, each with "<file>:<line>".
struct KataConfig {
  std::optional<bool> only;                                 ///< [runtime] sandbox_cgroup_only
  std::string where;                                        ///< of `only`
  std::map<std::string, KataDefaultMemory> default_memory;  ///< by the hypervisor's name
  std::optional<bool> pins = {};                            ///< [runtime] enable_vcpus_pinning
  std::string pins_where = {};                              ///< of `pins`; the file: its default
};
/// Of the first configured file that exists; nullopt: there is none, or it cannot be read.
[[nodiscard]] std::optional<KataConfig> read_kata_config(const Config::Discovery& discovery);

}  // namespace kcg
