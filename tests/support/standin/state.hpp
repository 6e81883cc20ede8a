// SPDX-License-Identifier: Apache-2.0
//
// The files that a shim reads and writes: its bundle and Kata's persist.json.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "model/ids.hpp"
#include "options.hpp"

namespace kcg::standin {

/// linux.cgroupsPath of the bundle's config.json.
[[nodiscard]] Result<std::string> read_cgroups_path(const std::string& bundle);
/// kata_<name> beside the group that cgroupsPath names; refuses systemd's slice:prefix:name.
[[nodiscard]] Result<std::string> kata_group_path(const std::string& cgroups_path);

/// Value: what persist.json says beside the options.
struct Saved {
  std::string state;  ///< running | stopped
  std::string sandbox_group;
  std::string overhead_group;
  Pid vmm = 0;
  Pid helper = 0;
};
/// Not atomic, in two writes: the real one is not atomic either.
[[nodiscard]] Status save_state(const Options& options, const Saved& saved);
/// Pids that the `delete` helper must end.
[[nodiscard]] std::optional<Saved> load_state(const Options& options);

[[nodiscard]] Status make_directories(const Options& options);
void remove_directories(const Options& options);
/// As containerd's library: a temporary file, then rename.
[[nodiscard]] Status write_shim_pid(const std::string& bundle, Pid pid);

}  // namespace kcg::standin
