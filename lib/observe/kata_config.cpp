// SPDX-License-Identifier: Apache-2.0
#include "observe/kata_config.hpp"

#include "base/dir.hpp"
#include "config/kata_config.hpp"

namespace kcg {

std::optional<KataConfig> read_kata_config(const Config::Discovery& discovery) {
  for (const auto& path : discovery.kata_config) {
    // Distributions link this file into place: links are followed.
    const auto text = read_path(path);
    if (!text) continue;
    const auto word = kata_sandbox_cgroup_only(*text);
    if (!word) return std::nullopt;
    return KataConfig{word->only, fmt::format("{}:{}", path, word->line)};
  }
  return std::nullopt;
}

}  // namespace kcg
