// SPDX-License-Identifier: Apache-2.0
#include "observe/kata_files.hpp"

namespace kcg {

std::vector<KataFile> kata_state_files(const Config::Discovery& discovery, const SandboxId& id) {
  std::vector<KataFile> files;
  for (const auto& root : discovery.kata_state) {
    files.push_back({root + "/sbs/" + id.str() + "/persist.json", true});
    files.push_back({root + "/" + id.str() + "/state.json", false});
  }
  return files;
}

}  // namespace kcg
