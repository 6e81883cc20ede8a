// SPDX-License-Identifier: Apache-2.0
#include "peers.hpp"

#include <libcgroup.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <fstream>
#include <memory>
#include <stdexcept>

#include "bare_vmm.hpp"
#include "baseline.hpp"
#include "support/live/kernel.hpp"
#include "support/live/wait.hpp"
#include "timeline.hpp"

namespace kcg::bench {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kVcpus = 2;
constexpr std::chrono::milliseconds kGlance{10};

void need(int code, const std::string& what) {
  if (code != 0)
    throw std::runtime_error(fmt::format("libcgroup: {}: {}", what, cgroup_strerror(code)));
}

using Group = std::unique_ptr<cgroup, void (*)(cgroup*)>;

enum class Where { everywhere, splitting, whole };

/// What libcgroup shall do in these hierarchies; nothing is made yet.
Group describe(const live::Node& node, const std::string& path, Where where) {
  Group group(cgroup_new_cgroup(path.substr(1).c_str()), [](cgroup* it) { cgroup_free(&it); });
  for (const auto& mount : node.corner().managed()) {
    if (where != Where::everywhere && splits(mount) != (where == Where::splitting)) continue;
    for (const auto& name : mount.controllers) {
      auto* const controller = cgroup_add_controller(group.get(), name.c_str());
      if (controller == nullptr) throw std::runtime_error("libcgroup: no controller " + name);
      if (name != "cpuset") continue;
      for (const char* const file : {"cpuset.cpus", "cpuset.mems"})
        need(cgroup_add_value_string(controller, file,
                                     live::slurp_line(mount.path + "/" + file).c_str()),
             file);
    }
  }
  return group;
}

Group make_group(const live::Node& node, const std::string& path, Where where) {
  auto group = describe(node, path, where);
  need(cgroup_create_cgroup(group.get(), 1), "create " + path);
  return group;
}

void attach(const Group& group, int tid) {
  need(cgroup_attach_task_pid(group.get(), tid), "attach");
}

/// The same groups and moves as bare_life()'s.
Micros libcgroup_life(const live::Node& node) {
  const auto path = next_group(node);
  auto child = start_light(node, kVcpus);
  const auto vcpus = vcpu_threads(child.pid(), kVcpus);
  const auto threads = live::threads_of(child.pid());
  std::vector<Group> groups;
  const auto placing = cpu_of([&] {
    groups.push_back(make_group(node, path, Where::everywhere));
    for (const char* const cls : {"/vcpu", "/io", "/vmm", "/shim"})
      groups.push_back(make_group(node, path + cls, Where::splitting));
    const auto whole = describe(node, path, Where::whole);
    for (const auto& thread : threads) {
      attach(whole, thread.tid);
      attach(groups[3], thread.tid);
    }
    for (const int tid : vcpus) attach(groups[1], tid);
  });
  child.signal(SIGKILL);
  (void)child.wait(live::kPatience);  // ignored: removing its groups tells
  return placing + cpu_of([&] {
           for (auto it = groups.rbegin(); it != groups.rend(); ++it)
             need(cgroup_delete_cgroup(it->get(), 1), "delete");
         });
}

/// The daemon of rules, with one rule: these programs belong into that group of these controllers.
live::Child rules_daemon(const live::Node& node, const std::string& program,
                         const std::string& group) {
  live::Command command;
  command.argv = {"/usr/sbin/cgrulesengd", "-n", "-q"};
  command.groups = node.corner().system();
  command.output = node.run_root() + "/cgrulesengd";
  const auto rule = fmt::format("*:{} cpu,memory {}\n", program, group.substr(1));
  // Its rules have one place on the whole machine: it sees another /etc.
  command.before_exec = [rule] {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", "/etc", "tmpfs", 0, nullptr) != 0)
      throw std::runtime_error("cgrulesengd: no file system of its own");
    std::ofstream("/etc/cgrules.conf") << rule;
    // It does not start without these.
    std::ofstream("/etc/cgconfig.conf").flush();
    ::mkdir("/etc/cgconfig.d", 0755);
  };
  return live::Child::start(command);
}

/// In both hierarchies of the rule.
void wait_until_moved(int pid, const std::string& group) {
  const auto moved = [&] {
    const auto text = live::slurp(fmt::format("/proc/{}/cgroup", pid));
    const auto first = text.find(group + "\n");
    return first != std::string::npos && text.find(group + "\n", first + 1) != std::string::npos;
  };
  if (!live::wait_until(moved, live::kPatience, kGlance))
    throw std::runtime_error("cgrulesengd has not moved the VMM");
}

Json rules(const live::Node& node, std::size_t lives) {
  const auto group = node.corner().top() + "/peer";
  node.corner().make(group);
  const auto first = start_light(node, kVcpus);
  const auto daemon = rules_daemon(node, "qemu-system-x86_64", group);
  wait_until_moved(first.pid(), group);  // it has read its rules and looked at who is there
  const Trace trace;
  std::vector<Micros> took;
  for (std::size_t i = 0; i < lives; ++i) {
    trace.clear();
    const auto child = start_light(node, kVcpus);
    wait_until_moved(child.pid(), group);
    if (const auto start = measure(trace.events(), child.pid(), {child.pid()}, {}, group))
      took.push_back(start->whole);
  }
  return summary(took);
}

}  // namespace

Json bench_peers(std::size_t lives) {
  need(cgroup_init(), "init");
  const live::Node node(live::Tree::v1);
  std::vector<Micros> bare, library;
  for (std::size_t i = 0; i < lives; ++i) {
    bare.push_back(bare_life(node, kVcpus));
    library.push_back(libcgroup_life(node));
  }
  return {{"bare_cpu_us_per_life", summary(bare)},
          {"libcgroup_cpu_us_per_life", summary(library)},
          {"cgrulesengd_exec_to_whole_process_us", rules(node, lives)}};
}

}  // namespace kcg::bench
