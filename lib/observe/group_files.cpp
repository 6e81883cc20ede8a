// SPDX-License-Identifier: Apache-2.0
#include "observe/group_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <limits>

#include "base/text.hpp"

namespace kcg {

namespace {

/// Kernel text of v1 for "no limit": the last page that a signed number reaches.
std::string unlimited(std::uint64_t page_size) {
  const auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return fmt::format("{}", most / page_size * page_size);
}

/// nullopt: it depends.
std::optional<std::string> fresh_text(std::string_view file, bool unified,
                                      std::uint64_t page_size) {
  if (file == kProcesses || file == kEnabled) return "";
  if (file == kType) return "domain";
  if (file == "cpu.max") return "max 100000";
  if (file == "cpu.weight") return "100";
  if (file == "cpuset.cpus" && unified) return "";
  if (file == "memory.max") return "max";
  if (file == "memory.current" || file == "memory.usage_in_bytes") return "0";
  if (file == "memory.events") return "oom 0\noom_kill 0";
  if (file == "cpu.shares") return "1024";
  if (file == kQuota) return "-1";
  if (file == kPeriod) return "100000";
  if (file == "memory.limit_in_bytes") return unlimited(page_size);
  if (file == "memory.oom_control") return "oom_kill_disable 0\nunder_oom 0\noom_kill 0";
  return std::nullopt;
}

}  // namespace

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
  if (h.has("cpu") && (top || cls == ThreadClass::vcpu)) add({kPeriod});
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

std::vector<std::pair<std::string, std::string>> fresh_files(const Hierarchy& h,
                                                             std::optional<ThreadClass> cls,
                                                             std::string_view enabled,
                                                             std::uint64_t page_size) {
  auto names = own_files(h, !cls, cls.value_or(ThreadClass::vmm));
  if (!cls || !h.unified) names.push_back(kProcesses);
  const auto controllers = words(enabled);
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::string_view name : names) {
    const auto controller = name.substr(0, name.find('.'));
    const bool there =
        !h.unified || controller == "cgroup" ||
        std::find(controllers.begin(), controllers.end(), controller) != controllers.end();
    const auto text = there ? fresh_text(name, h.unified, page_size) : std::nullopt;
    if (text) files.emplace_back(name, *text);
  }
  if (h.unified) files.emplace_back(kControllers, enabled);
  return files;
}

}  // namespace kcg
