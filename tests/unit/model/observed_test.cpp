// SPDX-License-Identifier: Apache-2.0
#include "model/observed.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

TEST(Observed, FindsGroupsByHierarchyAndPath) {
  Observed observed;
  const GroupRef here{"cpu", CgroupPath::parse("/a").value()};
  const GroupRef elsewhere{"memory", CgroupPath::parse("/a").value()};
  observed.groups[here].files["cpu.shares"] = "1024";
  ASSERT_NE(observed.group(here), nullptr);
  EXPECT_EQ(observed.group(here)->file("cpu.shares"), "1024");
  EXPECT_EQ(observed.group(here)->file("cpu"), std::nullopt);
  EXPECT_EQ(observed.group(elsewhere), nullptr);
}

TEST(Observed, FindsTheFirstProcessOfARole) {
  Observed observed;
  EXPECT_EQ(observed.first(ProcessRole::shim), nullptr);
  for (const Pid pid : {10, 11}) {
    Process process;
    process.facts.key.pid = pid;
    process.role = pid == 10 ? ProcessRole::shim : ProcessRole::vmm;
    observed.processes.push_back(process);
  }
  ASSERT_NE(observed.first(ProcessRole::vmm), nullptr);
  EXPECT_EQ(observed.first(ProcessRole::vmm)->facts.key.pid, 11);
  EXPECT_EQ(observed.first(ProcessRole::virtiofsd), nullptr);
}

TEST(Observed, TheVmmHasStartedWhen) {
  Observed observed;
  EXPECT_FALSE(vmm_started(observed));
  observed.inputs.kata.emplace();
  observed.inputs.kata->hypervisor = "qemu";
  EXPECT_FALSE(vmm_started(observed));
  observed.inputs.kata->hypervisor = "dragonball";
  EXPECT_TRUE(vmm_started(observed));
  observed.inputs.kata->hypervisor = "remote";
  EXPECT_TRUE(vmm_started(observed));
  observed.inputs.kata.reset();
  observed.processes.emplace_back().role = ProcessRole::vmm;
  EXPECT_TRUE(vmm_started(observed));
  observed.processes.clear();
  observed.assumed = true;
  EXPECT_TRUE(vmm_started(observed));
}

}  // namespace
}  // namespace kcg
