// SPDX-License-Identifier: Apache-2.0
//
// Kata's own configuration on this node (L5).
#pragma once

#include <optional>
#include <string>

#include "model/config.hpp"

namespace kcg {

/// Value: sandbox_cgroup_only of Kata's configuration.toml, and "<file>:<line>".
struct KataConfig {
  bool only = false;
  std::string where;
};
/// Of the first configured file that exists; nullopt: it does not say, or there is none.
[[nodiscard]] std::optional<KataConfig> read_kata_config(const Config::Discovery& discovery);

}  // namespace kcg
