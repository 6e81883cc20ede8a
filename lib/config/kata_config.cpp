// SPDX-License-Identifier: Apache-2.0
#include "config/kata_config.hpp"

#include <limits>

#include "config/settings.hpp"

namespace kcg {

namespace {

/// Kata holds MiB in 32 bits, and takes 0 for its own default.
bool plausible(std::int64_t mib) {
  return mib > 0 && mib <= std::numeric_limits<std::uint32_t>::max();
}

/// The hypervisor whose key this is; "" of another path.
std::string hypervisor_of(const std::vector<std::string>& path, std::string_view key) {
  return path.size() == 3 && path[0] == "hypervisor" && path[2] == key ? path[1] : "";
}

void read_hypervisor(const Setting& setting, KataConfigWords& words) {
  const auto memory = hypervisor_of(setting.path, "default_memory");
  const auto* mib = std::get_if<std::int64_t>(&setting.value);
  if (!memory.empty() && mib != nullptr && plausible(*mib))
    words.default_memory[memory] = {static_cast<std::uint64_t>(*mib), setting.line};
  const auto annotations = hypervisor_of(setting.path, "enable_annotations");
  const auto* patterns = std::get_if<std::vector<std::string>>(&setting.value);
  if (!annotations.empty() && patterns != nullptr)
    words.annotations[annotations] = {*patterns, setting.line};
}

}  // namespace

KataConfigWords parse_kata_config(std::string_view toml) {
  const std::vector<std::string> only = {"runtime", "sandbox_cgroup_only"};
  const std::vector<std::string> pinning = {"runtime", "enable_vcpus_pinning"};
  const std::vector<std::string> name = {"runtime", "name"};
  KataConfigWords words;
  const auto read = parse_settings(toml);
  if (read.error.empty()) words.pinning = KataConfigWord{};
  for (const auto& setting : read.settings) {
    const auto& path = setting.path;
    const auto* flag = std::get_if<bool>(&setting.value);
    if (path == only && flag != nullptr) words.only = KataConfigWord{*flag, setting.line};
    if (path == pinning && flag != nullptr) words.pinning = KataConfigWord{*flag, setting.line};
    if (path == pinning && flag == nullptr) words.pinning.reset();
    if (path == name && std::holds_alternative<std::string>(setting.value)) words.rust = true;
    read_hypervisor(setting, words);
  }
  return words;
}

}  // namespace kcg
