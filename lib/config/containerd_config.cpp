// SPDX-License-Identifier: Apache-2.0
#include "config/containerd_config.hpp"

#include <algorithm>
#include <map>

#include "config/settings.hpp"

namespace kcg {

namespace {

/// {"plugins", <CRI>, "containerd", "runtimes", <name>, <key>, ...}
bool of_containerd_runtime(const std::vector<std::string>& path) {
  return path.size() >= 6 && path[0] == "plugins" && path[2] == "containerd" &&
         path[3] == "runtimes";
}

}  // namespace

ContainerdConfigWords parse_containerd_config(std::string_view toml) {
  ContainerdConfigWords words;
  std::map<std::string, ContainerdRuntime> runtimes;
  std::map<std::string, bool> kata;
  for (const auto& setting : parse_settings(toml).settings) {
    const auto& path = setting.path;
    const auto* texts = std::get_if<std::vector<std::string>>(&setting.value);
    const auto* text = std::get_if<std::string>(&setting.value);
    if (path.size() == 1 && path[0] == "imports" && texts != nullptr) words.imports = *texts;
    if (!of_containerd_runtime(path)) continue;
    auto& runtime = runtimes[path[4]];
    runtime.name = path[4];
    const bool option = path.size() == 7 && path[5] == "options" && path[6] == "ConfigPath";
    if (option && text != nullptr) runtime.kata_config = *text;
    if (path[5] == "runtime_type" && text != nullptr) kata[path[4]] = names_kata(*text);
    if (path[5] != "pod_annotations" || texts == nullptr) continue;
    runtime.pod_annotations = *texts;
    runtime.line = setting.line;
  }
  for (auto& [name, runtime] : runtimes)
    if (kata[name]) words.kata.push_back(std::move(runtime));
  return words;
}

}  // namespace kcg
