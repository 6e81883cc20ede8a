// SPDX-License-Identifier: Apache-2.0
#include "observe/group_files.hpp"

#include <initializer_list>

namespace kcg {

FileNames own_files(const Hierarchy& h, bool top, ThreadClass cls) {
  FileNames files;
  const auto add = [&files](std::initializer_list<const char*> names) {
    files.insert(files.end(), names.begin(), names.end());
  };
  if (h.unified) {
    add({kType});
    if (h.has("cpu")) add({"cpu.max", "cpu.weight"});
    if (top) add({kEnabled});
    const bool listed = top || cls == ThreadClass::io || cls == ThreadClass::shim;
    if (listed && h.has("cpuset")) add({"cpuset.cpus"});
    if (top && h.has("memory")) add({"memory.max", "memory.current", "memory.events"});
    return files;
  }
  if (h.has("cpu")) add({"cpu.shares", kQuota});
  if (h.has("cpuset")) add({"cpuset.cpus", "cpuset.mems"});
  if (top && h.has("memory"))
    add({"memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.usage_in_bytes",
         "memory.oom_control"});
  return files;
}

FileNames outer_files(const Hierarchy& h, const CgroupPath& path, bool parent) {
  FileNames files;
  const bool limits = !path.is_root();
  if (h.unified) {
    if (limits && h.has("memory")) files.emplace_back("memory.max");
    if (!parent) return files;
    if (limits && h.has("memory")) files.emplace_back("memory.events");
    for (const auto* name : {kControllers, kEnabled}) files.emplace_back(name);
    if (limits && h.has("cpu"))
      for (const auto* name : {"cpu.max", "cpu.weight"}) files.emplace_back(name);
    if (limits && h.has("cpuset")) files.emplace_back("cpuset.cpus");
    if (h.has("cpuset")) files.emplace_back("cpuset.cpus.effective");
    return files;
  }
  if (limits && h.has("memory")) files.emplace_back("memory.limit_in_bytes");
  if (limits && h.has("cpu")) files.emplace_back(kQuota);
  if (parent && h.has("cpuset"))
    for (const auto* name : {"cpuset.cpus", "cpuset.mems"}) files.emplace_back(name);
  return files;
}

}  // namespace kcg
