// SPDX-License-Identifier: Apache-2.0
#include "config/reload.hpp"

#include <fmt/format.h>

#include <set>

#include "config/keys.hpp"

namespace kcg {

namespace {

/// As it would stand in a file; a handler that has no table says nothing.
std::string said(const ConfigKey& key, const Config& config, const std::string& handler) {
  const bool none = key.per_handler() && !config.overhead.handlers.contains(handler);
  return none ? "not given" : toml_text(key.get(config, handler));
}

/// The handlers that a key may be about; "" where it is about none.
std::set<std::string> handlers_of(const ConfigKey& key, const Config& a, const Config& b) {
  if (!key.per_handler()) return {""};
  std::set<std::string> handlers;
  for (const auto* config : {&a, &b})
    for (const auto& [handler, overhead] : config->overhead.handlers) handlers.insert(handler);
  return handlers;
}

}  // namespace

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
  move(config.nri.socket);
  return config;
}

Reloaded after_reload(const Config& running, const Config& loaded) {
  Reloaded reloaded{loaded, {}, {}};
  for (const auto& key : config_keys()) {
    if (!key.restart) {
      for (const auto& handler : handlers_of(key, running, loaded)) {
        const auto before = said(key, running, handler);
        const auto now = said(key, loaded, handler);
        if (before != now)
          reloaded.applied.push_back(
              fmt::format("{} {} -> {}", key.full_name(handler), before, now));
      }
      continue;
    }
    if (key.get(running, "") == key.get(loaded, "")) continue;
    key.copy(running, reloaded.config);
    reloaded.needs_restart.emplace_back(key.name);
  }
  return reloaded;
}

}  // namespace kcg
