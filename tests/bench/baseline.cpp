// SPDX-License-Identifier: Apache-2.0
#include "baseline.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <stdexcept>

#include "bare_vmm.hpp"
#include "support/live/kernel.hpp"
#include "support/live/wait.hpp"

namespace kcg::bench {

namespace {

constexpr std::chrono::milliseconds kRest{60};

Micros timed(const std::function<void()>& act) {
  const auto begin = std::chrono::steady_clock::now();
  act();
  return std::chrono::duration_cast<Micros>(std::chrono::steady_clock::now() - begin);
}

void put(const std::string& file, const std::string& text) {
  if (const int code = live::scribble(file, text); code != 0)
    throw std::runtime_error("baseline: " + file + "=" + text + ": " + errno_text(code));
}

void seed(const std::string& directory, const std::string& parent) {
  for (const char* const file : {"/cpuset.cpus", "/cpuset.mems"})
    put(directory + file, live::slurp_line(parent + file));
}

/// The group and its four classes in one hierarchy.
void make_groups(const standin::Mount& mount, const std::string& group) {
  const auto top = mount.path + group;
  const bool cpuset = live::exists(mount.path + "/cpuset.cpus");
  ::mkdir(top.c_str(), 0755);
  if (cpuset) seed(top, mount.path);
  if (!splits(mount)) return;
  for (const char* const cls : {"/vcpu", "/io", "/vmm", "/shim"}) {
    ::mkdir((top + cls).c_str(), 0755);
    if (mount.unified) put(top + cls + "/cgroup.type", "threaded");
    if (cpuset) seed(top + cls, top);
  }
}

void attach_process(const std::vector<standin::Mount>& mounts, const std::string& group, int pid) {
  for (const auto& mount : mounts)
    put(mount.path + group + (splits(mount) ? "/vmm" : "") + "/cgroup.procs", std::to_string(pid));
}

void attach_threads(const std::vector<standin::Mount>& mounts, const std::string& group,
                    const std::vector<int>& tids) {
  for (const auto& mount : mounts)
    for (const int tid : tids)
      if (splits(mount))
        put(mount.path + group + "/vcpu" + (mount.unified ? "/cgroup.threads" : "/tasks"),
            std::to_string(tid));
}

void remove_groups(const standin::Mount& mount, const std::string& group) {
  auto all = live::directories(mount.path + group);
  for (auto it = all.rbegin(); it != all.rend(); ++it)
    if (!live::wait_until([&] { return ::rmdir(it->c_str()) == 0; }))
      throw std::runtime_error("baseline: cannot remove " + *it);
}

}  // namespace

Bare bare_round(const live::Node& node, int vcpus) {
  const auto group = next_group(node);
  auto child = start_light(node, vcpus);
  const auto tids = vcpu_threads(child.pid(), vcpus);
  Bare bare;
  const auto& mounts = node.corner().managed();
  bare.mkdir = timed([&] {
    for (const auto& mount : mounts) make_groups(mount, group);
  });
  // A node at rest: the first attach after a while pays for a grace period, as the daemon's does.
  (void)child.wait(kRest);  // ignored: it does not end
  bare.process = timed([&] { attach_process(mounts, group, child.pid()); });
  (void)child.wait(kRest);  // ignored: as above; a real VMM's vCPUs come this much later, too
  bare.threads = timed([&] { attach_threads(mounts, group, tids); });
  return bare;
}

Micros bare_life(const live::Node& node, int vcpus) {
  const auto group = next_group(node);
  auto child = start_light(node, vcpus);
  const auto tids = vcpu_threads(child.pid(), vcpus);
  const auto& mounts = node.corner().managed();
  const auto begin = cpu_of([&] {
    for (const auto& mount : mounts) make_groups(mount, group);
    attach_process(mounts, group, child.pid());
    attach_threads(mounts, group, tids);
  });
  child.signal(SIGKILL);
  (void)child.wait(live::kPatience);  // ignored: removing its groups tells
  return begin + cpu_of([&] {
           for (const auto& mount : mounts) remove_groups(mount, group);
         });
}

}  // namespace kcg::bench
