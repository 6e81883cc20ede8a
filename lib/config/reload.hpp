// SPDX-License-Identifier: Apache-2.0
//
// Changes to a loaded configuration (L3).
#pragma once

#include <string>
#include <vector>

#include "model/config.hpp"

namespace kcg {

/// Every path below /run is looked for below `directory` instead ("/tmp/x/run/..."). "" and "/"
/// change nothing.
[[nodiscard]] Config with_run_root(Config config, const std::string& directory);

/// Value: what a reload leads to.
struct Reloaded {
  Config config;                           ///< the new one, with the old values of such keys
  std::vector<std::string> needs_restart;  ///< keys that changed and cannot be applied
  std::vector<std::string> applied;        ///< "mode enforce -> observe" of each that can
};
[[nodiscard]] Reloaded after_reload(const Config& running, const Config& loaded);

}  // namespace kcg
