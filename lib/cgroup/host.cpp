// SPDX-License-Identifier: Apache-2.0
#include "cgroup/host.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/dir.hpp"
#include "base/text.hpp"
#include "kernel/mountinfo.hpp"

namespace kcg {

namespace {

constexpr std::array<std::string_view, 8> kManaged = {"cpu",   "cpuacct", "cpuset",  "memory",
                                                      "blkio", "pids",    "hugetlb", "perf_event"};

bool below(const std::string& path, const std::string& root) {
  return path == root || (path.starts_with(root) && path[root.size()] == '/');
}

/// The managed controllers among a v1 mount's options, in the mount's order.
std::vector<std::string> managed_controllers(const std::vector<std::string>& options) {
  std::vector<std::string> found;
  for (const auto& option : options)
    if (std::find(kManaged.begin(), kManaged.end(), option) != kManaged.end())
      found.push_back(option);
  return found;
}

/// Value: what is mounted below the root.
struct Mounts {
  std::vector<Hierarchy> v1;
  std::optional<std::string> v2;  ///< its mount point
};

Mounts mounts_below(const std::string& root, const std::vector<Mount>& mounts) {
  Mounts found;
  for (const auto& mount : mounts) {
    if (!below(mount.mount_point, root) || mount.root != "/") continue;
    if (mount.fs_type == "cgroup2" && !found.v2) found.v2 = mount.mount_point;
    if (mount.fs_type != "cgroup") continue;
    auto controllers = managed_controllers(mount.super_options);
    if (controllers.empty()) continue;
    const auto name = fmt::format("{}", fmt::join(controllers, ","));
    const bool twice = std::any_of(found.v1.begin(), found.v1.end(),
                                   [&](const Hierarchy& h) { return h.name == name; });
    if (!twice)
      found.v1.push_back(Hierarchy{name, std::move(controllers), false, mount.mount_point});
  }
  return found;
}

Status check_kernel(Host& host) {
  utsname names{};
  if (::uname(&names) != 0) return fail(0, "uname failed");
  if (!kernel_at_least(names.release, 5, 10))
    return fail(0, "kernel {} is too old: 5.10 or newer is needed", names.release);
  host.kernel_vhost_threads = !kernel_at_least(names.release, 6, 4);
  return {};
}

}  // namespace

bool kernel_at_least(std::string_view release, unsigned major, unsigned minor) {
  const auto digits = [](std::string_view text) {
    return text.substr(0, text.find_first_not_of("0123456789"));
  };
  const auto parts = split(release, '.');
  const auto have_major = parse_u64(digits(parts[0])).value_or(0);
  const auto have_minor = parts.size() > 1 ? parse_u64(digits(parts[1])).value_or(0) : 0;
  return have_major != major ? have_major > major : have_minor >= minor;
}

Result<Host> host_of_mounts(const Config::Cgroup& config, std::string_view mountinfo) {
  const auto parsed = parse_mountinfo(mountinfo);
  if (!parsed) return forward(parsed.error(), "/proc/self/mountinfo");
  auto mounts = mounts_below(config.root, *parsed);
  const bool want_v2 = config.hierarchy == HierarchyChoice::v2;
  const bool want_v1 = config.hierarchy == HierarchyChoice::v1;
  Host host;
  if (mounts.v2 && !want_v1 && (want_v2 || mounts.v1.empty())) {
    host.mode = HierarchyMode::v2;
    host.hierarchies = {Hierarchy{"v2", {}, true, *mounts.v2}};
    return host;
  }
  if (mounts.v1.empty() || want_v2)
    return fail(0, "no cgroup {} hierarchy is mounted below {}: see [cgroup] root and hierarchy",
                want_v2   ? "v2"
                : want_v1 ? "v1"
                          : "v1 or v2",
                config.root);
  host.mode = mounts.v2 ? HierarchyMode::hybrid : HierarchyMode::v1;
  host.hierarchies = std::move(mounts.v1);
  return host;
}

Result<Host> discover_host(const Config::Cgroup& config) {
  const auto proc = Dir::open("/proc/self");
  if (!proc) return forward(proc.error());
  const auto text = proc->read("mountinfo");
  if (!text) return forward(text.error());
  auto host = host_of_mounts(config, *text);
  if (!host) return host;
  if (auto good = check_kernel(*host); !good) return forward(good.error());
  host->page_size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  host->online_cpus = static_cast<std::uint64_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  if (!host->unified()) return host;
  auto& unified = host->hierarchies.front();
  const auto root = Dir::open(unified.mount_point);
  if (!root) return forward(root.error());
  const auto controllers = root->read("cgroup.controllers");
  if (!controllers) return forward(controllers.error(), unified.mount_point);
  for (const auto word : words(*controllers)) unified.controllers.emplace_back(word);
  return host;
}

}  // namespace kcg
