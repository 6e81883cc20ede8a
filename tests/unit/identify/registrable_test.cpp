// SPDX-License-Identifier: Apache-2.0
#include "identify/registrable.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

constexpr TaskKey kTask{4711, 100};

RegisteredProcess shim() {
  RegisteredProcess process;
  process.key = "ShimPidFd";
  process.task = kTask;
  process.descendants = 5;
  return process;
}

TEST(Registrable, ProcessesThatCannotBeASandboxs) {
  const struct {
    const char* name;
    void (*change)(RegisteredProcess&);
    const char* text;  ///< "": accepted
  } rows[] = {
      {"a shim", [](RegisteredProcess&) {}, ""},
      {"as many below it as there may be",
       [](RegisteredProcess& p) { p.descendants = kMostDescendants; }, ""},
      {"one more", [](RegisteredProcess& p) { p.descendants = kMostDescendants + 1; },
       "more than 64 descendants"},
      {"init", [](RegisteredProcess& p) { p.task.pid = 1; }, "the node's init"},
      {"no process", [](RegisteredProcess& p) { p.task.pid = 0; }, "the node's init"},
      {"a kernel thread", [](RegisteredProcess& p) { p.kernel_thread = true; }, "a kernel thread"},
      {"ourselves", [](RegisteredProcess& p) { p.ours = true; }, "this daemon or an ancestor"},
      {"in a container", [](RegisteredProcess& p) { p.same_pid_ns = false; },
       "another pid namespace"},
      {"another sandbox's", [](RegisteredProcess& p) { p.other_sandbox = "abcd"; },
       "belongs to sandbox 'abcd'"},
  };
  for (const auto& row : rows) {
    auto process = shim();
    row.change(process);
    const auto problem = registration_problem({}, {{process}, {}});
    EXPECT_EQ(problem.has_value(), *row.text != '\0') << row.name;
    if (!problem) continue;
    EXPECT_NE(problem->find(row.text), std::string::npos) << row.name << *problem;
    EXPECT_EQ(problem->find("ShimPidFd: process "), 0U) << row.name << *problem;
  }
}

TEST(Registrable, EachProcessIsLookedAt) {
  auto vmm = shim();
  vmm.key = "VmmPidFd";
  vmm.task.pid = 1;
  EXPECT_TRUE(registration_problem({}, {{shim(), vmm}, {}})->starts_with("VmmPidFd: process 1 "));
}

TEST(Registrable, PathsThatAreNotASandboxs) {
  const std::vector<std::string> own = {"/system.slice/kata-cgroupd.service", "/"};
  const struct {
    const char* name;
    const char* path;
    const char* text;  ///< "": accepted
  } rows[] = {
      {"a pod's", "/kubepods/burstable/podU/s1", ""},
      {"a pod's slice", "kubepods-burstable-podU.slice:cri-containerd:s1", ""},
      {"one level", "/s1", ""},
      {"beside us", "/system.slice/kata-cgroupd.service2/s1", ""},
      {"a scope beside us", "system.slice:docker:s1", ""},
      {"the root", "/", "the root"},
      {"the root, written otherwise", "//", "the root"},
      {"ours", "/system.slice/kata-cgroupd.service", "runs in"},
      {"above us", "/system.slice", "runs in"},
      {"below us", "/system.slice/kata-cgroupd.service/s1", "runs in"},
      {"the root, in a roundabout way", "/a/../..", "the root"},
      {"not a path", "/a/memory.max", "CgroupsPath"},
  };
  for (const auto& row : rows) {
    Registration registration;
    registration.cgroups_path = row.path;
    const auto problem = registration_problem(registration, {{}, own});
    EXPECT_EQ(problem.has_value(), *row.text != '\0') << row.name << problem.value_or("");
    if (!problem) continue;
    EXPECT_NE(problem->find(row.text), std::string::npos) << row.name << *problem;
  }
}

TEST(Registrable, WithoutAPathAndProcessesThereIsNothingToRefuse) {
  EXPECT_FALSE(registration_problem({}, {{}, {"/"}}));
}

Observed ended() {
  Observed observed;
  observed.inputs.registration.emplace().vmm = kTask;
  return observed;
}

TEST(Registrable, WhatIsLeftKeepsARegistration) {
  const struct {
    const char* name;
    void (*change)(Observed&);
    bool over;
  } rows[] = {
      {"nothing left", [](Observed&) {}, true},
      {"not registered", [](Observed& o) { o.inputs.registration.reset(); }, false},
      {"no process was named: it may still come",
       [](Observed& o) { o.inputs.registration->vmm.reset(); }, false},
      {"a bundle", [](Observed& o) { o.inputs.bundle.emplace(); }, false},
      {"a process", [](Observed& o) { o.processes.emplace_back(); }, false},
      {"a stranger in its group", [](Observed& o) { o.foreign.emplace_back(); }, false},
      {"a group of ours",
       [](Observed& o) {
         GroupState state;
         state.mark = "s1";
         o.groups[{"v2", *CgroupPath::parse("/a")}] = state;
       },
       false},
      {"only Kata's group",
       [](Observed& o) { o.groups[{"v2", *CgroupPath::parse("/a")}] = GroupState(); }, true},
      {"systemd has not answered", [](Observed& o) { o.pending.emplace(); }, false},
  };
  for (const auto& row : rows) {
    auto observed = ended();
    row.change(observed);
    EXPECT_EQ(nothing_left(observed), row.over) << row.name;
  }
}

}  // namespace
}  // namespace kcg
