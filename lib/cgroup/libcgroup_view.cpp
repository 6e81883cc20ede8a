// SPDX-License-Identifier: Apache-2.0
#include "cgroup/libcgroup_view.hpp"

#include <libcgroup.h>

namespace kcg {

Result<ControllerMounts> libcgroup_mounts() {
  if (const int r = cgroup_init(); r != 0)
    return fail(0, "libcgroup: cgroup_init: {}", cgroup_strerror(r));
  ControllerMounts mounts;
  void* handle = nullptr;
  cgroup_mount_point entry{};
  int r = cgroup_get_controller_begin(&handle, &entry);
  while (r == 0) {
    mounts.emplace(entry.name, entry.path);
    r = cgroup_get_controller_next(&handle, &entry);
  }
  (void)cgroup_get_controller_end(&handle);  // ignored: it only releases the iterator
  if (r != ECGEOF) return fail(0, "libcgroup: mounted controllers: {}", cgroup_strerror(r));
  return mounts;
}

std::vector<std::string> compare_mounts(const Host& host, const ControllerMounts& mounts) {
  std::vector<std::string> problems;
  for (const auto& hierarchy : host.hierarchies)
    for (const auto& controller : hierarchy.controllers) {
      const auto seen = mounts.find(controller);
      if (seen == mounts.end())
        problems.push_back(fmt::format("{}: mountinfo has it at {}, libcgroup does not see it",
                                       controller, hierarchy.mount_point));
      else if (seen->second != hierarchy.mount_point)
        problems.push_back(fmt::format("{}: mountinfo has it at {}, libcgroup at {}", controller,
                                       hierarchy.mount_point, seen->second));
    }
  return problems;
}

}  // namespace kcg
