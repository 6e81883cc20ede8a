// SPDX-License-Identifier: Apache-2.0
//
// How Kata is configured on the node of the end-to-end tests: lines KEY=VALUE in
// /etc/kata-standin.conf. The keys and their defaults are in node_settings.cpp.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "base/result.hpp"
#include "options.hpp"

namespace kcg::standin {

/// Each key with its value.
using SettingTexts = std::map<std::string, std::string, std::less<>>;

/// Value: the same, understood.
struct NodeSettings {
  Options kata;  ///< without a sandbox
  bool own_group = true;
  bool device_rules = false;
  bool hugepages = false;
  bool late_virtiofsd = false;
  bool paused = false;
  bool spinning_container = false;
  std::chrono::seconds delete_time{0};
};

/// The defaults, and what `path` says instead; a missing file says nothing.
[[nodiscard]] Result<SettingTexts> read_settings(const std::string& path);
/// For read_settings.
[[nodiscard]] Status write_settings(const std::string& path, const SettingTexts& texts);
[[nodiscard]] Result<NodeSettings> parse_settings(const SettingTexts& texts);

}  // namespace kcg::standin
