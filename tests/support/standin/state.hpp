// SPDX-License-Identifier: Apache-2.0
//
// The files that a shim reads and writes: its bundle and Kata's persist.json.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "containers.hpp"
#include "model/ids.hpp"
#include "options.hpp"

namespace kcg::standin {

/// linux.cgroupsPath of the bundle's config.json.
[[nodiscard]] Result<std::string> read_cgroups_path(const std::string& bundle);
/// kata_<name> beside the group that cgroupsPath names; refuses systemd's slice:prefix:name.
[[nodiscard]] Result<std::string> kata_group_path(const std::string& cgroups_path);

/// Value: what persist.json says beside the options.
struct Saved {
  std::string state;  ///< ready | running | stopped
  std::string sandbox_group;
  std::string overhead_group;
  Pid vmm = 0;
  Pid helper = 0;
  std::vector<Container> containers = {};
};
/// persist.json, and one for each container in a directory of its own below. Truncated, then
/// written in place: the real one is not atomic either.
[[nodiscard]] Status save_state(const Options& options, const Saved& saved);
/// The directory of one container goes.
void forget_container(const Options& options, const std::string& id);
/// What was saved, for who was not there; none when nothing was, or no whole file.
[[nodiscard]] std::optional<Saved> load_state(const Options& options);

[[nodiscard]] Status make_directories(const Options& options);
[[nodiscard]] bool has_directories(const Options& options);
void remove_directories(const Options& options);
/// As containerd's library: a temporary file, then rename.
[[nodiscard]] Status write_shim_pid(const std::string& bundle, Pid pid);

}  // namespace kcg::standin
