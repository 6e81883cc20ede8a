// SPDX-License-Identifier: Apache-2.0
#include "cgroup/host.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>

#include "base/dir.hpp"
#include "base/text.hpp"

namespace kcg {

namespace {

constexpr KernelVersion kOldest = {5, 10};        // openat2, pidfd, xattrs on cgroups
constexpr KernelVersion kVhostIsThread = {6, 4};  // vhost workers are threads of the VMM
constexpr std::array<std::string_view, 8> kManaged = {"cpu",   "cpuacct", "cpuset",  "memory",
                                                      "blkio", "pids",    "hugetlb", "perf_event"};
/// Every other v1 controller there is; what else stands among a mount's options is no controller.
constexpr std::array<std::string_view, 6> kForeign = {"devices",  "freezer", "net_cls",
                                                      "net_prio", "rdma",    "misc"};

template <std::size_t N>
bool among(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool at_or_below(std::string_view path, std::string_view root) {
  if (root == "/") return true;
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

/// cgroup mounts at or below the root; of two on one mount point the later one counts. The order
/// says nothing about mounts on directories above: "/" itself often stands behind others.
std::vector<Mount> visible(const std::vector<Mount>& mounts, const std::string& root) {
  std::vector<Mount> found;
  for (const auto& mount : mounts) {
    std::erase_if(found,
                  [&](const Mount& older) { return older.mount_point == mount.mount_point; });
    const bool cgroup = mount.fs_type == "cgroup" || mount.fs_type == "cgroup2";
    if (cgroup && at_or_below(mount.mount_point, root)) found.push_back(mount);
  }
  return found;
}

/// Paths in /proc/<pid>/cgroup count from the hierarchy's root, so nothing less may be mounted.
Status check_whole(const Mount& mount) {
  if (mount.root == "/") return {};
  return fail(
      0,
      "{}: only '{}' of the hierarchy is mounted there; run in the host's cgroup namespace, "
      "or set cgroup.root",
      mount.mount_point, mount.root);
}

/// nullopt: nothing of it is ours to manage.
std::optional<Hierarchy> v1_hierarchy(const Mount& mount) {
  Hierarchy hierarchy{"", {}, false, mount.mount_point};
  for (const auto& option : mount.super_options) {
    if (among(kForeign, option) || option.starts_with("name=")) return std::nullopt;
    if (among(kManaged, option)) hierarchy.controllers.push_back(option);
  }
  hierarchy.name = join(hierarchy.controllers, ",");
  return hierarchy.controllers.empty() ? std::nullopt : std::optional(hierarchy);
}

Result<std::vector<Hierarchy>> v1_hierarchies(const std::vector<Mount>& mounts) {
  std::vector<Hierarchy> found;
  for (const auto& mount : mounts) {
    if (mount.fs_type != "cgroup") continue;
    auto hierarchy = v1_hierarchy(mount);
    if (!hierarchy) continue;
    if (auto whole = check_whole(mount); !whole) return forward(whole.error());
    const bool twice = std::any_of(found.begin(), found.end(), [&](const Hierarchy& other) {
      return other.name == hierarchy->name;  // the same hierarchy at a second place
    });
    if (!twice) found.push_back(std::move(*hierarchy));
  }
  return found;
}

const Mount* unified_mount(const std::vector<Mount>& mounts) {
  const auto it = std::find_if(mounts.begin(), mounts.end(),
                               [](const Mount& mount) { return mount.fs_type == "cgroup2"; });
  return it == mounts.end() ? nullptr : &*it;
}

Result<Host> unified_host(const Mount& mount) {
  if (auto whole = check_whole(mount); !whole) return forward(whole.error());
  Host host;
  host.mode = HierarchyMode::v2;
  host.hierarchies = {{"v2", {}, true, mount.mount_point}};
  return host;
}

Result<std::string> real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         std::free);
  if (real) return std::string(real.get());
  const int code = errno;
  return fail(code, "cgroup.root '{}': {}", path, errno_text(code));
}

Result<std::vector<std::string>> unified_controllers(const std::string& mount_point) {
  const auto dir = Dir::open(mount_point);
  if (!dir) return forward(dir.error());
  const auto text = dir->read("cgroup.controllers");
  if (!text) return forward(text.error(), mount_point);
  std::vector<std::string> names;
  for (const auto word : words(*text)) names.emplace_back(word);
  return names;
}

std::uint64_t system_number(int what, std::uint64_t otherwise) {
  const long value = ::sysconf(what);
  return value > 0 ? static_cast<std::uint64_t>(value) : otherwise;
}

}  // namespace

Result<KernelVersion> parse_kernel_version(std::string_view release) {
  const auto parts = split(release, '.');
  const auto leading = [](std::string_view text) {
    return parse_u64(text.substr(0, text.find_first_not_of("0123456789")));
  };
  const auto major = leading(parts[0]);
  const auto minor = leading(parts.size() > 1 ? parts[1] : "");
  if (!major || !minor || *major > 1000 || *minor > 100'000)
    return fail(0, "kernel release '{}': not a version", escaped(release));
  return KernelVersion{static_cast<unsigned>(*major), static_cast<unsigned>(*minor)};
}

Status apply_kernel_version(const KernelVersion& version, Host& host) {
  if (version < kOldest)
    return fail(ENOSYS,
                "kernel {}.{} is too old: {}.{} or newer is needed (openat2, pidfd, extended "
                "attributes on cgroups)",
                version.major, version.minor, kOldest.major, kOldest.minor);
  host.kernel_vhost_threads = version < kVhostIsThread;
  return {};
}

Result<Host> choose_hierarchies(const std::vector<Mount>& mounts, const std::string& root,
                                HierarchyChoice choice) {
  const auto candidates = visible(mounts, root);
  const Mount* unified = unified_mount(candidates);
  const bool unified_root = unified != nullptr && unified->mount_point == root;
  if (choice == HierarchyChoice::v2 && unified == nullptr)
    return fail(ENOENT, "no cgroup2 mount at or below '{}', but cgroup.hierarchy is \"v2\"", root);
  if (choice == HierarchyChoice::v2 || (choice == HierarchyChoice::automatic && unified_root))
    return unified_host(*unified);
  auto hierarchies = v1_hierarchies(candidates);
  if (!hierarchies) return forward(hierarchies.error());
  if (hierarchies->empty() && choice == HierarchyChoice::automatic && unified != nullptr)
    return unified_host(*unified);
  if (hierarchies->empty())
    return fail(ENOENT, "no cgroup v1 controller that can be managed is mounted below '{}'", root);
  Host host;
  host.mode = unified == nullptr ? HierarchyMode::v1 : HierarchyMode::hybrid;
  host.hierarchies = std::move(*hierarchies);
  return host;
}

Result<Host> discover_host(const Config::Cgroup& config, const std::string& proc_root) {
  const auto root = real_path(config.root);
  if (!root) return forward(root.error());
  const auto self = Dir::open(proc_root + "/self");  // not pid 1's: what we can open counts
  if (!self) return forward(self.error());
  const auto text = self->read("mountinfo");
  const auto mounts = text ? parse_mountinfo(*text) : forward(text.error());
  if (!mounts) return forward(mounts.error());
  auto host = choose_hierarchies(*mounts, *root, config.hierarchy);
  if (!host) return forward(host.error());
  utsname system{};
  (void)::uname(&system);  // ignored: cannot fail with a valid buffer
  const auto version = parse_kernel_version(system.release);
  if (!version) return forward(version.error());
  if (auto supported = apply_kernel_version(*version, *host); !supported)
    return forward(supported.error());
  host->page_size = system_number(_SC_PAGESIZE, 4096);
  host->online_cpus = system_number(_SC_NPROCESSORS_ONLN, 1);
  if (!host->unified()) return host;
  auto controllers = unified_controllers(host->hierarchies.front().mount_point);
  if (!controllers) return forward(controllers.error());
  host->hierarchies.front().controllers = std::move(*controllers);
  return host;
}

}  // namespace kcg
