// SPDX-License-Identifier: Apache-2.0
#include "config/reload.hpp"

#include "config/keys.hpp"

namespace kcg {

Config with_run_root(Config config, const std::string& directory) {
  auto prefix = directory;
  while (prefix.ends_with('/')) prefix.pop_back();
  config.run_root = prefix;
  const auto move = [&](std::string& path) {
    if (path == "/run" || path.starts_with("/run/")) path.insert(0, prefix);
  };
  move(config.discovery.containerd_state);
  move(config.discovery.crio_root);
  for (auto& path : config.discovery.kata_state) move(path);
  for (auto& path : config.discovery.kata_config) move(path);
  return config;
}

Reloaded after_reload(const Config& running, const Config& loaded) {
  Reloaded reloaded{loaded, {}};
  for (const auto& key : config_keys()) {
    if (!key.restart) continue;
    if (key.get(running, "") == key.get(loaded, "")) continue;
    key.copy(running, reloaded.config);
    reloaded.needs_restart.emplace_back(key.name);
  }
  return reloaded;
}

}  // namespace kcg
