// SPDX-License-Identifier: Apache-2.0
#include "model/step.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

const GroupRef kGroup{"v2", CgroupPath::parse("/x.slice/s.scope").value()};
constexpr TaskKey kTask{7, 3};

struct Row {
  const char* name;
  Operation operation;
  const char* key;
  const char* old_value;
  const char* new_value;
  bool task = false;
};

const Row kRows[] = {
    {"create", op::Create{}, "", "", ""},
    {"create", op::Create{true}, "parent", "", ""},
    {"mark", op::Mark{"S"}, "trusted.kata-cgroupd", "", "S"},
    {"enable", op::Enable{"cpu", "io"}, "cgroup.subtree_control", "io", "+cpu"},
    {"enable", op::MakeThreaded{"domain"}, "cgroup.type", "domain", "threaded"},
    {"seed", op::Seed{{"cpuset.cpus", "0", "0-1"}}, "cpuset.cpus", "0", "0-1"},
    {"device", op::Device{{100, 2, true}}, "device-program", "", "100"},
    {"device", op::Device{{100, 2, false}}, "device-program", "100", ""},
    {"limit", op::Limit{{"cpu.max", "max", "1 2"}}, "cpu.max", "max", "1 2"},
    {"move-process", op::MoveProcess{{kTask, ThreadClass::io, "/a"}}, "cgroup.procs", "/a",
     "/x.slice/s.scope", true},
    {"move-thread", op::MoveThread{{kTask, ThreadClass::io, "/a"}, 6}, "cgroup.threads", "/a",
     "/x.slice/s.scope", true},
    {"move-thread", op::MoveThread{{kTask, ThreadClass::io, "/a"}, 6, true}, "tasks", "/a",
     "/x.slice/s.scope", true},
    {"remove", op::Remove{}, "", "", ""},
    {"disable", op::Disable{{"cpu", "io"}}, "cgroup.subtree_control", "cpu io", "-cpu -io"},
    {"unmark", op::Unmark{"S"}, "trusted.kata-cgroupd", "S", ""},
    {"start-scope", op::StartScope{kTask}, "s.scope", "", "x.slice", true},
    {"set-scope", op::SetScope{{"cpu.max", "max", "1 2"}}, "cpu.max", "max", "1 2"},
};

TEST(Step, AsPeopleReadIt) {
  for (const auto& row : kRows) {
    const auto text = text_of({kGroup, row.operation});
    EXPECT_EQ(name(row.operation), row.name);
    EXPECT_EQ(text.key, row.key) << row.name;
    EXPECT_EQ(text.old_value, row.old_value) << row.name;
    EXPECT_EQ(text.new_value, row.new_value) << row.name;
    EXPECT_EQ(text.task, row.task ? std::optional(kTask) : std::nullopt) << row.name;
  }
}

TEST(Step, WhatSeveralOperationsHaveInCommon) {
  for (const auto& row : kRows) {
    const Step step{kGroup, row.operation};
    const std::string_view name = row.name;
    EXPECT_EQ(move_of(step) != nullptr, name.starts_with("move-")) << name;
    EXPECT_EQ(change_of(step) != nullptr, name == "seed" || name == "limit" || name == "set-scope")
        << name;
    EXPECT_EQ(by_systemd(step), name.ends_with("-scope")) << name;
  }
}

TEST(Step, AScopeInTheRootSlice) {
  const GroupRef scope{"v2", CgroupPath::parse("/s.scope").value()};
  EXPECT_EQ(unit_of(scope), "s.scope");
  EXPECT_EQ(slice_of(scope), "-.slice");
}

}  // namespace
}  // namespace kcg
