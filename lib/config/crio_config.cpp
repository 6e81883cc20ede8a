// SPDX-License-Identifier: Apache-2.0
#include "config/crio_config.hpp"

#include <map>
#include <set>

#include "config/settings.hpp"

namespace kcg {

namespace {

/// {"crio", "runtime", "runtimes", <name>, <key>}
bool of_crio_runtime(const std::vector<std::string>& path) {
  return path.size() == 5 && path[0] == "crio" && path[1] == "runtime" && path[2] == "runtimes";
}

bool is_cgroup_manager(const std::vector<std::string>& path) {
  return path.size() == 3 && path[0] == "crio" && path[1] == "runtime" &&
         path[2] == "cgroup_manager";
}

}  // namespace

CrioConfigWords parse_crio_config(std::string_view toml) {
  CrioConfigWords words;
  std::map<std::string, CrioRuntime> runtimes;
  std::set<std::string> kata;
  for (const auto& setting : parse_settings(toml).settings) {
    const auto& path = setting.path;
    const auto* text = std::get_if<std::string>(&setting.value);
    if (text == nullptr) continue;
    if (is_cgroup_manager(path)) words.cgroup_manager = *text;
    if (!of_crio_runtime(path)) continue;
    auto& runtime = runtimes[path[3]];
    runtime.name = path[3];
    if (path[4] == "runtime_path" && names_kata(*text)) kata.insert(path[3]);
    if (path[4] == "runtime_config_path") runtime.kata_config = *text;
  }
  for (auto& [name, runtime] : runtimes)
    if (kata.contains(name)) words.kata.push_back(std::move(runtime));
  return words;
}

}  // namespace kcg
