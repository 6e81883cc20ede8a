// SPDX-License-Identifier: Apache-2.0
#include "support/live/witness.hpp"

#include <libcgroup.h>

#include <cstdlib>
#include <stdexcept>

namespace kcg::live {

namespace {

void initialise() {
  static const int failed = ::cgroup_init();
  if (failed != 0) throw std::runtime_error(std::string("libcgroup: ") + ::cgroup_strerror(failed));
}

}  // namespace

std::set<int> libcgroup_processes(const std::string& group, const std::string& controller) {
  initialise();
  pid_t* pids = nullptr;
  int count = 0;
  std::string name = group;  // libcgroup 2 takes char*
  std::string where = controller;
  const int failed = ::cgroup_get_procs(name.data(), where.data(), &pids, &count);
  if (failed != 0)
    throw std::runtime_error("libcgroup, " + controller + ":" + group + ": " +
                             ::cgroup_strerror(failed));
  const std::set<int> found(pids, pids + count);
  std::free(pids);
  return found;
}

std::set<int> libcgroup_threads(const std::string& group, const std::string& controller) {
  initialise();
  std::set<int> found;
  void* handle = nullptr;
  pid_t tid = 0;
  int more = ::cgroup_get_task_begin(group.c_str(), controller.c_str(), &handle, &tid);
  for (; more == 0; more = ::cgroup_get_task_next(&handle, &tid)) found.insert(tid);
  ::cgroup_get_task_end(&handle);
  if (more != ECGEOF)
    throw std::runtime_error("libcgroup, " + controller + ":" + group + ": " +
                             ::cgroup_strerror(more));
  return found;
}

}  // namespace kcg::live
