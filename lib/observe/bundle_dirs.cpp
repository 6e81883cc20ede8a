// SPDX-License-Identifier: Apache-2.0
#include "observe/bundle_dirs.hpp"

#include <algorithm>
#include <string_view>

#include "base/dir.hpp"
#include "base/text.hpp"
#include "model/errnos.hpp"

namespace kcg {

namespace {

/// No id begins with a dot: containerd gives a bundle such a name before it deletes what is in it.
bool being_deleted(std::string_view name) { return name.starts_with('.'); }

/// Names of the directories in `path` but such; none if it cannot be read.
std::vector<std::string> directories(const std::string& path) {
  std::vector<std::string> names;
  const auto dir = Dir::open(path);
  const auto entries = dir ? dir->list() : forward(dir.error());
  if (!entries) return names;
  for (const auto& entry : *entries)
    if (entry.directory && !being_deleted(entry.name)) names.push_back(entry.name);
  std::sort(names.begin(), names.end());
  return names;
}

Status listable(const std::string& path) {
  const auto dir = Dir::open(path);
  const auto entries = dir ? dir->list() : forward(dir.error());
  if (entries || errnos::no_file(entries.error().code)) return {};
  return fail(entries.error().code,
              "{}: sandboxes may be there that cannot be seen; ask the daemon, or as root",
              entries.error().text);
}

/// The part of `path` below `root`, or nullopt.
std::optional<std::string_view> below(std::string_view path, const std::string& root) {
  if (!path.starts_with(root) || path.size() <= root.size() || path[root.size()] != '/')
    return std::nullopt;
  return path.substr(root.size() + 1);
}

}  // namespace

std::string containerd_tasks_root(const Config::Discovery& discovery) {
  return discovery.containerd_state + "/io.containerd.runtime.v2.task";
}

std::string crio_containers_root(const Config::Discovery& discovery) {
  return discovery.crio_root + "/overlay-containers";
}

std::optional<BundleOrigin> bundle_origin(const Config::Discovery& discovery,
                                          const std::string& directory) {
  if (const auto rest = below(directory, containerd_tasks_root(discovery))) {
    const auto parts = split(*rest, '/');
    if (parts.size() != 2 || being_deleted(parts[1])) return std::nullopt;
    return BundleOrigin{BundleOrigin::Root::containerd, std::string(parts[0]),
                        std::string(parts[1]), directory};
  }
  if (const auto rest = below(directory, crio_containers_root(discovery))) {
    const auto parts = split(*rest, '/');
    if (parts.size() != 2 || parts[1] != "userdata") return std::nullopt;
    return BundleOrigin{BundleOrigin::Root::crio, "", std::string(parts[0]), directory};
  }
  return std::nullopt;
}

Status bundles_readable(const Config::Discovery& discovery) {
  const auto tasks = containerd_tasks_root(discovery);
  if (auto status = listable(tasks); !status) return status;
  for (const auto& ns : directories(tasks))
    if (auto status = listable(tasks + "/" + ns); !status) return status;
  return listable(crio_containers_root(discovery));
}

std::vector<BundleOrigin> list_bundles(const Config::Discovery& discovery) {
  std::vector<BundleOrigin> found;
  const auto tasks = containerd_tasks_root(discovery);
  for (const auto& ns : directories(tasks))
    for (const auto& id : directories(tasks + "/" + ns))
      found.push_back({BundleOrigin::Root::containerd, ns, id, tasks + "/" + ns + "/" + id});
  const auto containers = crio_containers_root(discovery);
  for (const auto& id : directories(containers)) {
    const auto bundle = containers + "/" + id + "/userdata";
    if (Dir::open(bundle)) found.push_back({BundleOrigin::Root::crio, "", id, bundle});
  }
  return found;
}

}  // namespace kcg
