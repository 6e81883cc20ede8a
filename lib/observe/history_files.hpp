// SPDX-License-Identifier: Apache-2.0
//
// What the daemon keeps of what has happened (L6): a file for each sandbox in its run directory,
// which cgctl reads when the daemon does not run.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/dir.hpp"
#include "model/sandbox_history.hpp"

namespace kcg {

/// "history-<id>.json".
[[nodiscard]] std::string history_file(const std::string& id);

/// Value: what was found; `wrong`: the files that are none, and why.
struct HistoryFiles {
  std::vector<SandboxHistory> histories;
  std::vector<std::pair<std::string, std::string>> wrong;
};
/// An error: the directory cannot be listed.
[[nodiscard]] Result<HistoryFiles> read_histories(const Dir& run);

}  // namespace kcg
