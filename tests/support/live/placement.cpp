// SPDX-License-Identifier: Apache-2.0
#include "support/live/placement.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "base/text.hpp"
#include "support/live/kernel.hpp"
#include "support/live/wait.hpp"
#include "support/live/witness.hpp"

namespace kcg::live {

namespace {

constexpr std::array<const char*, 4> kClasses = {"vcpu", "io", "vmm", "shim"};

/// Threads of one process are told apart here; elsewhere on v1 it is whole.
bool splits(const std::string& controller) {
  return controller.empty() || controller == "cpu" || controller == "cpuacct";
}

/// Keys of Seen::groups where the daemon places. v1's cpuset is left to Kata, which has a group
/// there.
std::vector<std::string> managed_keys(const Corner& corner) {
  if (corner.tree() == Tree::v2) return {""};
  std::vector<std::string> keys;
  for (const auto& mount : corner.managed())
    for (const auto& controller : mount.controllers)
      if (controller != "cpuset") keys.push_back(controller);
  return keys;
}

/// A path for people: the pod's part and the id are the same everywhere.
std::string shown(const Sandbox& sandbox, std::string path) {
  for (const auto& [text, instead] :
       {std::pair<std::string, const char*>{sandbox.pod_group(), "POD"}, {sandbox.id(), "ID"}})
    if (const auto at = path.find(text); at != std::string::npos)
      path.replace(at, text.size(), instead);
  return path;
}

using ClassOf = std::function<const char*(const Seen&)>;

void check_process(const Sandbox& sandbox, int pid, const ClassOf& class_of, std::string& wrong) {
  const auto threads = threads_of(pid);
  if (threads.empty()) wrong += fmt::format("process {} is gone\n", pid);
  for (const auto& thread : threads)
    for (const auto& key : managed_keys(sandbox.corner())) {
      const auto want = splits(key) ? sandbox.group() + "/" + class_of(thread) : sandbox.group();
      const auto at = thread.groups.find(key);
      const auto is = at == thread.groups.end() ? std::string() : at->second;
      if (is != want)
        wrong +=
            fmt::format("tid {} ({}) of {} in {}: is {}, must be {}\n", thread.tid, thread.comm,
                        pid, key.empty() ? "v2" : key, shown(sandbox, is), shown(sandbox, want));
    }
}

/// Nothing but its name tells an I/O thread from the rest; QEMU's monitor has one, too, that is no
/// object which QMP lists.
const char* class_in_vmm(const Truth& truth, bool names, const Seen& thread) {
  if (truth.vcpus.count(thread.tid) != 0) return "vcpu";
  const bool io = truth.ios.count(thread.tid) != 0 || thread.comm.rfind("IO ", 0) == 0;
  return names && io ? "io" : "vmm";
}

std::set<int> kernel_tids(const Truth& truth) {
  std::set<int> tids;
  std::vector<int> pids = truth.helpers;
  pids.insert(pids.end(), {truth.shim, truth.vmm});
  for (const int pid : pids)
    for (const auto& thread : threads_of(pid)) tids.insert(thread.tid);
  return tids;
}

std::string compare(const std::string& where, const std::set<int>& want, const std::set<int>& is) {
  if (want == is) return {};
  return fmt::format("libcgroup, {}: {} tasks, must be {}\n", where, is.size(), want.size());
}

std::string libcgroup_v1(const Sandbox& sandbox, const Truth& truth) {
  std::string wrong;
  std::set<int> in_classes;
  for (const char* const cls : kClasses) {
    const auto tids = libcgroup_threads(sandbox.group() + "/" + cls, "cpu");
    in_classes.insert(tids.begin(), tids.end());
  }
  wrong += compare("cpu, all classes", kernel_tids(truth), in_classes);
  wrong += compare("memory", kernel_tids(truth), libcgroup_threads(sandbox.group(), "memory"));
  for (const char* const controller : {"cpu", "cpuacct"})
    wrong += compare(fmt::format("{} vcpu", controller), truth.vcpus,
                     libcgroup_threads(sandbox.group() + "/vcpu", controller));
  return wrong;
}

}  // namespace

std::string misplaced(const Sandbox& sandbox, const Truth& truth) {
  std::string wrong;
  const bool names = sandbox.spec().names;
  check_process(sandbox, truth.shim, [](const Seen&) { return "shim"; }, wrong);
  if (truth.vmm != 0)
    check_process(
        sandbox, truth.vmm, [&](const Seen& t) { return class_in_vmm(truth, names, t); }, wrong);
  for (const int helper : truth.helpers)
    check_process(sandbox, helper, [](const Seen&) { return "io"; }, wrong);
  // A VMM without QMP is asked by its threads' names while it still makes them.
  if (truth.vmm != 0 && truth.vcpus.size() < static_cast<std::size_t>(sandbox.spec().vcpus))
    wrong += fmt::format("the VMM has only {} vCPUs\n", truth.vcpus.size());
  // It may be born beside the daemon's look at its parent: before it there is too little to see.
  if (truth.helpers.size() == 1) wrong += "virtiofsd has no child yet\n";
  return wrong;
}

std::string settle(const Sandbox& sandbox) {
  std::string wrong;
  (void)wait_until([&] {  // ignored: `wrong` says the same
    wrong = misplaced(sandbox, sandbox.truth());
    return wrong.empty();
  });
  return wrong;
}

std::string misplaced_by_libcgroup(const Sandbox& sandbox, const Truth& truth) {
  std::set<int> processes(truth.helpers.begin(), truth.helpers.end());
  processes.insert({truth.shim, truth.vmm});
  if (sandbox.corner().tree() == Tree::v1) return libcgroup_v1(sandbox, truth);
  // The domain of a threaded subtree lists the processes of all its children.
  return compare("cgroup2", processes, libcgroup_processes(sandbox.group(), "cgroup"));
}

std::string unmarked(const Sandbox& sandbox) {
  std::string wrong;
  const auto all = sandbox.corner().find("kata-sandbox-" + sandbox.id());
  if (all.empty()) wrong += "there is no group\n";
  for (const auto& top : all)
    for (const auto& group : directories(top))
      if (mark_of(group) != sandbox.id() + " " + sandbox.run_root())
        wrong += group + " does not carry the mark\n";
  return wrong;
}

std::string gone(const Sandbox& sandbox) {
  std::string left;
  (void)wait_until([&] {  // ignored: `left` says the same
    left.clear();
    for (const auto& group : sandbox.corner().find("kata-sandbox-" + sandbox.id()))
      left += group + "\n";
    return left.empty();
  });
  return left;
}

}  // namespace kcg::live
