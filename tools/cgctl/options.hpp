// SPDX-License-Identifier: Apache-2.0
//
// cgctl's command line as a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/enums.hpp"

namespace kcg::cgctl {

/// What the exit status says; documented in cgctl(1).
enum class Exit : int {
  good = 0,
  failed = 1,
  usage = 2,
  no_such_sandbox = 3,
  something_wrong = 4,
  no_daemon = 5
};

enum class Verb : std::uint8_t {
  status,
  list,
  show,
  tree,
  threads,
  events,
  plan,
  explain,
  reconcile,
  register_sandbox,
  unregister_sandbox,
  reload,
  check_config,
  watch,
  doctor,
  registrations,
  top,
  uninstall_check,
  release,
  metrics,
  recommend
};

enum class ColorChoice : std::uint8_t { automatic, always, never };

/// Value: what `register` was told about one container, "ID:memory=512M:cpu-quota=50000".
struct ContainerOption {
  std::string id;
  std::optional<std::uint64_t> memory, cpu_quota, cpu_period, cpu_shares;
  std::string cpus, mems;
  bool operator==(const ContainerOption&) const = default;
};

/// Value: what `register` was told.
struct RegisterOptions {
  std::optional<std::string> cgroups_path, handler, pod_namespace, pod_name, pod_uid;
  std::vector<std::pair<std::string, std::string>> annotations;
  std::vector<ContainerOption> containers;
  std::optional<std::int32_t> shim_pid, vmm_pid;
  std::optional<std::uint64_t> memory_overhead;
  std::optional<std::uint32_t> cpu_overhead_milli;
  std::optional<bool> sandbox_cgroup_only;
};

/// Value: see the head of the file.
struct Options {
  Verb verb = Verb::status;
  // global
  bool json = false;
  bool no_daemon = false;
  std::string bus = "system";
  ColorChoice color = ColorChoice::automatic;
  bool wide = false;
  bool raw = false;
  std::string config_file, cgroup_root, run_root;  ///< "": as the daemon's defaults
  // of the verbs
  std::string id;       ///< as typed: a pod, an id, or the beginning of one
  std::string topic;    ///< of explain; "" = everything
  std::string handler;  ///< of recommend; "" = all
  bool brief = false;   ///< of status: no verb was given
  bool all = false;
  bool failing = false;
  std::vector<std::string> labels;  ///< of list: KEY or KEY=VALUE; who has all of them is shown
  bool detailed_exit = false;
  bool adopt = false;
  bool once = false;   ///< of top
  std::string report;  ///< of doctor; "": none
  std::vector<std::string> bundles;
  std::optional<HierarchyMode> assumed;
  RegisterOptions registration;
};

}  // namespace kcg::cgctl
