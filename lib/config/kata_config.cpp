// SPDX-License-Identifier: Apache-2.0
#include "config/kata_config.hpp"

#include "config/settings.hpp"

namespace kcg {

std::optional<KataConfigWord> kata_sandbox_cgroup_only(std::string_view toml) {
  const std::vector<std::string> wanted = {"runtime", "sandbox_cgroup_only"};
  for (const auto& setting : parse_settings(toml).settings) {
    if (setting.path != wanted) continue;
    const auto* flag = std::get_if<bool>(&setting.value);
    return flag == nullptr ? std::nullopt : std::optional(KataConfigWord{*flag, setting.line});
  }
  return std::nullopt;
}

}  // namespace kcg
