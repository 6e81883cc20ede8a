// SPDX-License-Identifier: Apache-2.0
#include "observe/kata_config.hpp"

#include "base/dir.hpp"
#include "config/kata_config.hpp"

namespace kcg {

std::optional<bool> read_kata_config(const Config::Discovery& discovery) {
  for (const auto& path : discovery.kata_config) {
    // Distributions link this file into place: links are followed.
    if (const auto text = read_path(path)) return kata_sandbox_cgroup_only(*text);
  }
  return std::nullopt;
}

}  // namespace kcg
