// SPDX-License-Identifier: Apache-2.0
//
// `doctor`: what was found out about the node, as values. Gathering is the only part that touches
// it; what could not be looked at is an error, with the errno as its code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cgroup/libcgroup_view.hpp"
#include "config/kata_config.hpp"
#include "kernel/namespaces.hpp"
#include "model/config.hpp"
#include "model/host.hpp"
#include "model/view.hpp"
#include "tools/cgctl/doctor/engines.hpp"
#include "tools/cgctl/options.hpp"
#include "tools/cgctl/status.hpp"

namespace kcg::cgctl::doctor {

/// Value: room in the file system of the daemon's own files.
struct RunSpace {
  std::string directory;
  std::uint64_t bytes = 0;
  std::uint64_t inodes = 0;  ///< 0: a file system without a number of them
};

/// Value: Kata's configuration of this node.
struct KataFile {
  std::string path;
  KataConfigWords words;
};

/// Value: see the head of the file.
struct Facts {
  bool root = false;
  std::string kernel;  ///< its release
  Namespaces namespaces;
  Result<Config> config;
  Result<Host> host;
  Result<ControllerMounts> libcgroup;
  Result<std::string> pressure;  ///< /proc/pressure/cpu
  Status process_events;
  Status kvm_debugfs;
  Result<std::uint64_t> inotify_watches, inotify_instances;  ///< most that one user may have
  Result<RunSpace> run;
  Status bus;      ///< it can be reached
  Status systemd;  ///< it is on its bus
  DaemonState daemon;
  Result<std::vector<SandboxView>> sandboxes;
  Result<std::string> kubelet_driver;  ///< "systemd", "cgroupfs"; "": not configured
  Result<std::optional<KataFile>> kata;
  Result<std::vector<HandedOn>> containerd;
  Result<CrioConfigWords> crio;
  std::vector<NamedKataFile> named;  ///< by the engines
};

/// Waits for the bus, the daemon (3 s) and the kernel (1 s), no longer.
[[nodiscard]] Facts gather(const Options& options);

/// What is configured; where that is not valid, the defaults.
[[nodiscard]] const Config& config_or_default(const Facts& facts);

}  // namespace kcg::cgctl::doctor
