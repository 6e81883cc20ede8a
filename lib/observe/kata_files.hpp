// SPDX-License-Identifier: Apache-2.0
//
// Where Kata keeps its own record of a sandbox (L6).
#pragma once

#include <string>
#include <vector>

#include "model/config.hpp"
#include "model/ids.hpp"

namespace kcg {

/// Value: one possible state file.
struct KataFile {
  std::string path;
  bool go = true;  ///< persist.json of the Go shim; else runtime-rs's state.json
};

/// <root>/sbs/<id>/persist.json (Go) and <root>/<id>/state.json (runtime-rs) of every configured
/// root, in that order.
[[nodiscard]] std::vector<KataFile> kata_state_files(const Config::Discovery& discovery,
                                                     const SandboxId& id);

}  // namespace kcg
