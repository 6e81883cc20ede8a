// SPDX-License-Identifier: Apache-2.0
//
// The kernel and what is mounted: what the daemon stands on.
#include <algorithm>

#include "base/text.hpp"
#include "cgroup/host.hpp"
#include "tools/cgctl/doctor/checks.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl::doctor {

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kScarceBytes = 10 * kMiB;
constexpr std::uint64_t kScarceInodes = 1000;
/// For a sandbox, on v1 and v2.
constexpr std::uint64_t kWatchesV1 = 30;
constexpr std::uint64_t kWatchesV2 = 15;
/// A node holds so many pods at least.
constexpr std::uint64_t kPods = 110;
constexpr std::uint64_t kInstances = 7;

std::vector<std::string> missing_controllers(const Host& host) {
  std::vector<std::string> missing;
  for (const auto* one : {"cpu", "cpuset", "memory"}) {
    const bool there = std::any_of(host.hierarchies.begin(), host.hierarchies.end(),
                                   [&](const Hierarchy& h) { return h.has(one); });
    if (!there) missing.emplace_back(one);
  }
  return missing;
}

}  // namespace

Finding check_kernel(const Facts& facts) {
  const auto version = parse_kernel_version(facts.kernel);
  if (!version) return unchecked("kernel", version.error().text);
  Host host;
  if (const auto supported = apply_kernel_version(*version, host); !supported)
    return failed("kernel", supported.error().text, "run Linux 5.10 or newer");
  return good("kernel", facts.kernel + (host.kernel_vhost_threads
                                            ? ": vhost workers are kernel threads before 6.4"
                                            : ""));
}

Finding check_namespaces(const Facts& facts) {
  const auto problem = namespace_problem(facts.namespaces);
  if (problem.empty()) return good("namespaces", "the node's own");
  return warning("namespaces", problem, "run cgctl on the node itself");
}

Finding check_hierarchy(const Facts& facts) {
  if (!facts.host)
    return unseen("hierarchy", facts.host.error(),
                  "mount the cgroup file systems, or set [cgroup] root and hierarchy");
  const auto& first = facts.host->hierarchies.front().mount_point;
  const auto place = facts.host->unified() ? first : first.substr(0, first.rfind('/'));
  return good("hierarchy", fmt::format("cgroup {} at {}", name(facts.host->mode), place));
}

Finding check_controllers(const Facts& facts) {
  if (!facts.host) return unchecked("controllers", "no hierarchy was found");
  const auto missing = missing_controllers(*facts.host);
  if (!missing.empty())
    return failed("controllers", "there is no " + join(missing, ", "),
                  "mount them, or boot without cgroup_disable= (memory: cgroup_enable=memory)");
  std::vector<std::string> all;
  for (const auto& h : facts.host->hierarchies)
    all.insert(all.end(), h.controllers.begin(), h.controllers.end());
  return good("controllers", join(all, ", "));
}

Finding check_libcgroup(const Facts& facts) {
  constexpr const char* kCheck = "libcgroup";
  if (!facts.host) return unchecked(kCheck, "no hierarchy was found");
  const auto& config = config_or_default(facts);
  if (!(config.cgroup == Config::Cgroup{}))
    return unchecked(kCheck, "[cgroup] names another place than libcgroup reads");
  if (!facts.libcgroup)
    return unseen(kCheck, facts.libcgroup.error(), "compare 'lssubsys -am' with the mounts");
  const auto differences = compare_mounts(*facts.host, *facts.libcgroup);
  if (differences.empty()) return good(kCheck, "sees the controllers where mountinfo has them");
  return warning(kCheck, join(differences, "; "),
                 "unmount what is mounted twice, or set [cgroup] root");
}

Finding check_pressure(const Facts& facts) {
  constexpr const char* kCheck = "pressure";
  if (facts.pressure) {
    const bool groups = facts.host && facts.host->unified();
    return good(kCheck, groups ? "PSI of the node and of groups"
                               : "PSI of the node alone: cgroup v1 has none of groups");
  }
  if (facts.host && !facts.host->unified())
    return good(kCheck, "no PSI, and cgroup v1 has none of groups anyway");
  return warning(kCheck, "no PSI: how long sandboxes wait for memory and CPU is not known",
                 "boot with psi=1");
}

Finding check_process_events(const Facts& facts) {
  constexpr const char* kCheck = "process events";
  constexpr const char* kRemedy =
      "CAP_NET_ADMIN, the node's own pid, user and network namespaces, and a kernel with "
      "CONFIG_PROC_EVENTS";
  const std::string part = std::string(kCheck) + ": ";
  for (const auto& problem : facts.daemon.problems)
    if (problem.starts_with(part)) return warning(kCheck, problem.substr(part.size()), kRemedy);
  if (facts.daemon.running) return good(kCheck, "the daemon hears them");
  if (facts.process_events) return good(kCheck, "the kernel sends them");
  return unseen(kCheck, facts.process_events.error(), kRemedy);
}

Finding check_debugfs(const Facts& facts) {
  constexpr const char* kCheck = "debugfs";
  if (facts.kvm_debugfs) return good(kCheck, "tells which thread runs which vCPU");
  const auto& error = facts.kvm_debugfs.error();
  if (error.code != ENOENT) return unseen(kCheck, error, "mount -t debugfs none /sys/kernel/debug");
  return warning(kCheck,
                 "/sys/kernel/debug/kvm is not there: vCPU threads are known by their system call, "
                 "signals or name only",
                 "mount -t debugfs none /sys/kernel/debug; load KVM's module (modprobe kvm_intel "
                 "or kvm_amd)");
}

Finding check_inotify(const Facts& facts) {
  constexpr const char* kCheck = "inotify";
  if (!facts.inotify_watches) return unseen(kCheck, facts.inotify_watches.error(), "mount /proc");
  if (!facts.inotify_instances)
    return unseen(kCheck, facts.inotify_instances.error(), "mount /proc");
  const bool v2 = facts.host && facts.host->unified();
  const auto each = v2 ? kWatchesV2 : kWatchesV1;
  const auto room = *facts.inotify_watches / each;
  if (*facts.inotify_instances < kInstances)
    return warning(kCheck,
                   fmt::format("{} instances for all of root's programs: the daemon alone needs {}",
                               *facts.inotify_instances, kInstances),
                   "sysctl fs.inotify.max_user_instances=128");
  const auto text = fmt::format("room for {} sandboxes", room);
  if (room >= kPods) return good(kCheck, text);
  return warning(kCheck, text, fmt::format("sysctl fs.inotify.max_user_watches={}", 1000 * each));
}

Finding check_run_space(const Facts& facts) {
  constexpr const char* kCheck = "run directory";
  constexpr const char* kRemedy = "make room: registrations cannot be kept, and are refused";
  if (!facts.run) return unseen(kCheck, facts.run.error(), "mount a tmpfs there");
  const auto& space = *facts.run;
  const auto text = fmt::format("{} free in {}", size_text(space.bytes), space.directory);
  const bool none = space.bytes < kMiB;
  if (none || space.bytes < kScarceBytes)
    return none ? failed(kCheck, text, kRemedy) : warning(kCheck, text, kRemedy);
  if (space.inodes > 0 && space.inodes < kScarceInodes)
    return warning(kCheck, fmt::format("{}, room for {} files", text, space.inodes), kRemedy);
  return good(kCheck, text);
}

}  // namespace kcg::cgctl::doctor
