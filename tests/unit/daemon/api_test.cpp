// SPDX-License-Identifier: Apache-2.0
//
// What is asked of the node on the bus, and when it is answered.
#include "daemon/node/api.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "unit/daemon/reconciling.hpp"

namespace kcg::test {
namespace {

TEST_F(Reconciling, WhatIsRegisteredIsTold) {
  start();
  run();
  auto one = registration();
  one.pod = {"ns", "name", "uid"};
  one.since = 5;
  one.uid = 6;
  ASSERT_TRUE(reconciler_->api().register_sandbox("x", one));
  const RegisteredView expected{"x", one.pod, "/kubepods/pod1/x", 0, 0, 5, 6};
  EXPECT_EQ(reconciler_->api().registered(), std::vector<RegisteredView>{expected});
  ASSERT_TRUE(reconciler_->api().unregister_sandbox("x"));
  EXPECT_EQ(reconciler_->api().registered(), std::vector<RegisteredView>());
}

/// The registration stays as long as its shim lives.
TEST_F(Reconciling, APidThatIsUsedAgainMayBeRegistered) {
  const Program program{"vmm", "/usr/bin/vmm", {}};
  auto one = registration();
  one.shim = proc_.key(proc_.start(1, program));
  const Pid pid = proc_.start(1, program);
  one.vmm = proc_.key(pid);
  auto other = registration();
  other.vmm = one.vmm;
  start();
  run();
  ASSERT_TRUE(reconciler_->api().register_sandbox("x", one));
  EXPECT_FALSE(reconciler_->api().register_sandbox("y", other)) << "it is the VMM of x";
  proc_.exit_process(pid);
  reconciler_->hint({HintKind::process_end, "x", pid});
  run();
  proc_.start_as(pid, 1, program);
  other.vmm = proc_.key(pid);
  ASSERT_NE(other.vmm, one.vmm);
  EXPECT_TRUE(reconciler_->api().register_sandbox("y", other));
  EXPECT_EQ(reconciler_->api().registered().size(), 2U);
}

/// The call ends with the first turn; the others wait for no event.
TEST_F(Reconciling, WhoIsRegisteredIsPlacedInAsManyTurnsAsItTakes) {
  const Pid vmm = found_vmm();
  bool failed = false;
  tree_.on_operation([&](const FakeWrite& step) {
    for (const auto until = clock_.now() + std::chrono::milliseconds(2); clock_.now() < until;)
      continue;
    return step.file == "cgroup.procs" && !std::exchange(failed, true) ? EIO : 0;
  });
  place(vmm);
  EXPECT_TRUE(failed);
  EXPECT_NE(tree_.group_of(vmm, tree_.host().hierarchies.front().name.str()).find("kata-sandbox-x"),
            std::string::npos);
}

TEST_F(Reconciling, AtTheBoundWhoIsRegisteredMayBeRegisteredAgain) {
  config_.limits.max_sandboxes = 1;
  start();
  run();
  ASSERT_TRUE(reconciler_->api().register_sandbox("x", registration()));
  EXPECT_FALSE(reconciler_->api().register_sandbox("y", registration()));
  EXPECT_TRUE(reconciler_->api().register_sandbox("x", registration()));
}

TEST_F(Reconciling, WhatIsRegisteredIsListedBeforeItWasLookedAt) {
  ASSERT_TRUE(store_.registrations().empty());
  ASSERT_TRUE(store_.save(SandboxId::parse("x").value(), registration()));
  start();
  const auto listed = reconciler_->api().list(false);
  ASSERT_EQ(listed.size(), 1U) << "whoever asks when the bus name is claimed is told of all";
  EXPECT_EQ(listed.front().state, SandboxState::discovered);
  EXPECT_EQ(listed.front().pod_cgroup, "/kubepods/pod1");
  run();
  EXPECT_EQ(reconciler_->api().list(false).size(), 1U);
}

TEST_F(Reconciling, AllThereIsIsReconciledAlsoAtTheStart) {
  ASSERT_TRUE(store_.registrations().empty());
  ASSERT_TRUE(store_.save(SandboxId::parse("x").value(), registration()));
  start();
  reconciler_->api().reconcile("", false, answer());
  EXPECT_TRUE(answers_.empty()) << "not before they have been looked at";
  run();
  EXPECT_EQ(answers_, std::vector<std::string>{"0"});
}

TEST_F(Reconciling, WhoeverWaitsForOneThatGoesIsAnswered) {
  start();
  run();
  ASSERT_TRUE(reconciler_->api().register_sandbox("x", registration()));
  run();
  ASSERT_TRUE(reconciler_->api().unregister_sandbox("x"));
  reconciler_->api().reconcile("x", false, answer());
  run();
  EXPECT_EQ(answers_, std::vector<std::string>{"0"});
  reconciler_->api().reconcile("x", false, answer());
  ASSERT_EQ(answers_.size(), 2U);
  EXPECT_NE(answers_.back().find("no sandbox 'x'"), std::string::npos);
}

TEST_F(Reconciling, AnEmptyIdNeverAdoptsAll) {
  start();
  run();
  reconciler_->api().reconcile("", true, answer());
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_NE(answers_.front().find("adopting needs the id"), std::string::npos);
}

TEST_F(Reconciling, AReloadIsInForceAtOnce) {
  start();
  run();
  Config next = config_;
  next.mode = Mode::observe;
  reconciler_->api().set_config_reader([&]() -> Result<Config> { return next; });
  ASSERT_TRUE(reconciler_->api().reload());
  EXPECT_EQ(reconciler_->api().daemon_info().mode, Mode::observe);
  reconciler_->api().reconcile("", false, answer());
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_NE(answers_.front().find("nothing is written"), std::string::npos);
}

TEST_F(Reconciling, AReloadLooksAtEverythingAgain) {
  start();
  run();
  ASSERT_TRUE(reconciler_->api().register_sandbox("x", registration()));
  run();
  reconciler_->api().set_config_reader([this]() -> Result<Config> { return config_; });
  unsigned reads = 0;
  tree_.on_read([&] {
    ++reads;
    return 0;
  });
  ASSERT_TRUE(reconciler_->api().reload());
  EXPECT_EQ(reads, 0U) << "in the loop, not while somebody waits on the bus";
  run();
  EXPECT_GT(reads, 0U);
}

TEST_F(Reconciling, AShorterIntervalCountsAtOnce) {
  start();
  run();
  ASSERT_TRUE(reconciler_->api().register_sandbox("x", registration()));
  Config next = config_;
  next.reconcile_interval = std::chrono::milliseconds(10);
  reconciler_->api().set_config_reader([&]() -> Result<Config> { return next; });
  ASSERT_TRUE(reconciler_->api().reload());
  run();
  unsigned reads = 0;
  tree_.on_read([&] {
    ++reads;
    return 0;
  });
  while (reads == 0) ASSERT_GT(::sd_event_run(loop_->get(), 10'000'000), 0);
}

TEST_F(Reconciling, AConfigurationThatIsWrongChangesNothing) {
  start();
  run();
  reconciler_->api().set_config_reader(
      []() -> Result<Config> { return fail(0, "config.toml: line 3"); });
  const auto reloaded = reconciler_->api().reload();
  ASSERT_FALSE(reloaded);
  EXPECT_EQ(reloaded.error().code, static_cast<int>(ManagerError::config));
  EXPECT_EQ(reconciler_->api().daemon_info().mode, Mode::enforce);
}

TEST_F(Reconciling, JobsAreBounded) {
  start();
  run();
  unsigned slices = 0;
  bool refused = false;
  for (int i = 0; i < 100 && !refused; ++i)
    refused = !reconciler_->api().in_background([&] { return ++slices % 2 == 1; });
  EXPECT_TRUE(refused);
  EXPECT_EQ(slices, 0U);
  run();
  EXPECT_GE(slices, 32U);
  EXPECT_TRUE(reconciler_->api().in_background([] { return false; }));
}

}  // namespace
}  // namespace kcg::test
