// SPDX-License-Identifier: Apache-2.0
//
// Ids that come, go and return: what the reconciler keeps of them, and when it looks.
#include "daemon/reconciler.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>
#include <stdexcept>

#include "daemon/node/cpu_time.hpp"
#include "support/fake_systemd.hpp"
#include "unit/daemon/reconciling.hpp"

namespace kcg::test {
namespace {

TEST_F(Reconciling, AnIdThatReturnsIsAnotherLife) {
  start();
  run();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(reconciler_->api().register_sandbox("x", registration()));
    run();
    EXPECT_EQ(reconciler_->api().list(false).size(), 1U);
    ASSERT_TRUE(reconciler_->api().unregister_sandbox("x"));
    run();
    EXPECT_EQ(reconciler_->api().list(false).size(), 0U);
    EXPECT_EQ(heard(), "+x -x ");
  }
}

TEST_F(Reconciling, AnIdThatReturnsAtOnceIsThere) {
  start();
  run();
  ASSERT_TRUE(reconciler_->api().register_sandbox("x", registration()));
  ASSERT_TRUE(reconciler_->api().unregister_sandbox("x"));
  ASSERT_TRUE(reconciler_->api().register_sandbox("x", registration()));
  run();
  EXPECT_EQ(reconciler_->api().list(false).size(), 1U);
  EXPECT_EQ(reconciler_->api().list(true).size(), 1U);
}

TEST_F(Reconciling, HintsOfWhatIsGoneMakeNothing) {
  start();
  run();
  ASSERT_TRUE(reconciler_->api().register_sandbox("x", registration()));
  run();
  ASSERT_TRUE(reconciler_->api().unregister_sandbox("x"));
  run();
  (void)heard();
  for (const auto kind : {HintKind::group, HintKind::process_end, HintKind::kata_state})
    reconciler_->hint({kind, "x", 4711});
  reconciler_->hint({HintKind::job, "kata-sandbox-x.scope", 0, "refused"});
  reconciler_->hint({HintKind::thread, "", 4711});
  reconciler_->hint({HintKind::exec, "", 4711});
  reconciler_->hint({HintKind::bundle, directory() + "/containerd/none", 0});
  run();
  EXPECT_EQ(heard(), "");
  EXPECT_EQ(reconciler_->api().list(true).size(), 0U);
}

TEST_F(Reconciling, AnEndThatWasSeenIsNoNews) {
  tree_.make_all(tree_.host().hierarchies.front().name.str(), "/kubepods/pod1/x");
  config_.placement.existing = ExistingPolicy::place;
  const Pid shim = proc_.start(1, {"containerd-shim", "/usr/bin/containerd-shim-kata-v2", {}});
  const Pid vmm = proc_.start(shim, {"qemu-system-x86", "/usr/bin/qemu-system-x86_64", {}});
  start();
  run();
  auto registered = registration();
  registered.shim = proc_.key(shim);
  registered.vmm = proc_.key(vmm);
  ASSERT_TRUE(reconciler_->api().register_sandbox("x", registered));
  run();
  unsigned reads = 0;
  tree_.on_read([&] {
    ++reads;
    return 0;
  });
  reconciler_->hint({HintKind::process_end, "x", vmm});
  run();
  EXPECT_GT(std::exchange(reads, 0), 0U) << "nobody has seen it";
  proc_.exit_process(vmm);
  reconciler_->hint({HintKind::group, "x", 0});
  run();
  reads = 0;
  reconciler_->hint({HintKind::process_end, "x", vmm});
  run();
  EXPECT_EQ(reads, 0U);
}

/// A container's death may leave /run/vc/sbs/<id> behind for ever.
TEST_F(Reconciling, StateThatKataLeftBehindIsNoSandbox) {
  std::filesystem::create_directories(directory() + "/vc/sbs/left");
  std::ofstream(directory() + "/vc/sbs/left/persist.json")
      << R"({"State":"stopped","SandboxContainer":"left","HypervisorState":{"Type":"qemu"}})";
  start();
  reconciler_->hint({HintKind::kata_state, "left", 0});
  run();
  reconciler_->hint({HintKind::kata_state, "left", 0});
  run();
  EXPECT_EQ(heard(), "");
  EXPECT_EQ(reconciler_->api().list(true).size(), 0U);
}

/// Its end was missed, and its bundle has gone with it.
TEST_F(Reconciling, GroupsOfWhoIsKnownByThemAloneGo) {
  const auto hierarchy = tree_.host().hierarchies.front().name;
  const GroupRef group{hierarchy, CgroupPath::parse("/kubepods/pod1/kata-sandbox-x").value()};
  tree_.make_all(hierarchy.str(), group.path.str());
  tree_.set_raw_mark(group, "x");
  start();
  run();
  EXPECT_FALSE(tree_.mark(group));
}

/// Nobody has to unregister what has ended.
TEST_F(Reconciling, ARegistrationGoesWithItsProcesses) {
  const Pid vmm = found_vmm();
  place(vmm);
  EXPECT_EQ(reconciler_->api().registered().size(), 1U);
  proc_.exit_process(vmm);
  reconciler_->hint({HintKind::process_end, "x", vmm});
  run();
  EXPECT_EQ(reconciler_->api().registered().size(), 0U);
}

/// The job's end is the only word of it.
TEST_F(Reconciling, WhatSystemdHasDoneIsLookedAtAtOnce) {
  FakeSystemd systemd(tree_);
  systemd_ = &systemd;
  const auto hierarchy = tree_.host().hierarchies.front().name;
  const Pid vmm = found_vmm();
  tree_.make_all(hierarchy.str(), "/kubepods.slice/kubepods-pod1.slice");
  start();
  run();
  auto registered = registration();
  registered.cgroups_path = "kubepods-pod1.slice:cri:x";
  registered.vmm = proc_.key(vmm);
  ASSERT_TRUE(reconciler_->api().register_sandbox("x", registered));
  run();
  ASSERT_EQ(systemd.waiting().size(), 1U);
  for (const auto& unit : systemd.finish_jobs()) reconciler_->hint({HintKind::job, unit, 0, ""});
  run();
  EXPECT_EQ(tree_.group_of(vmm, hierarchy.str()),
            "/kubepods.slice/kubepods-pod1.slice/kata-sandbox-x.scope/vmm");
  reconciler_.reset();
}

/// A VMM of many threads is read in parts, between which it lives on.
TEST_F(Reconciling, WhatChangesBehindAPartIsLookedAtAgain) {
  const auto hierarchy = tree_.host().hierarchies.front().name;
  const Pid vmm = found_vmm();
  proc_.set_debugfs(false);
  const Pid first = proc_.add_thread(vmm, "CPU 0/KVM");
  const Pid second = proc_.add_thread(vmm, "worker");
  for (int i = 0; i < 10; ++i) (void)proc_.add_thread(vmm, "worker");
  place(vmm);
  ASSERT_TRUE(proc_.walked().contains(vmm));
  const auto group = [&](Pid tid) { return tree_.group_of(tid, hierarchy.str()); };
  ASSERT_NE(group(first), group(second)) << group(first);

  // Each read takes as long as a turn, and the first thread takes its name when it was read.
  Instant until{0};
  unsigned reads = 0;
  proc_.on_read([&] {
    until = std::max(until, clock_.now()) + std::chrono::milliseconds(11);
    while (clock_.now() < until) continue;
    ++reads;
    return 0;
  });
  reconciler_->hint({HintKind::group, "x", 0});
  bool renamed = false;
  while (::sd_event_run(loop_->get(), 0) > 0) {
    if (reads < 12 || std::exchange(renamed, true)) continue;
    proc_.rename(second, "CPU 1/KVM");
    reconciler_->hint({HintKind::thread, "", vmm});
  }
  EXPECT_TRUE(renamed);
  EXPECT_EQ(group(second), group(first));
}

/// Follows nobody; does something the first time that it is told of a VMM.
class LateFollower final : public Follower {
 public:
  explicit LateFollower(std::function<void()> act) : act_(std::move(act)) {}
  void follow(const SandboxId&, const Round& last) override {
    const auto& observed = last.observed;
    if (observed.first(ProcessRole::vmm) != nullptr && act_) std::exchange(act_, nullptr)();
  }
  void expect_vmm(const SandboxId&, Pid) override {}
  void await_end(const SandboxId&, const TaskKey&) override {}
  void hear_groups() override {}
  void wrote(const Round&) override {}
  [[nodiscard]] Told told(const SandboxId& /*id*/) const override { return {}; }
  void leave(const SandboxId&) override {}
  void set_mode(Mode) override {}

 private:
  std::function<void()> act_;
};

/// Nobody tells of it, and the first look had seen it in its place.
TEST_F(Reconciling, WhatMovedBeforeItWasWatchedIsSeenAfterARestart) {
  const auto hierarchy = tree_.host().hierarchies.front().name;
  const Pid vmm = found_vmm();
  proc_.set_debugfs(false);
  const Pid vcpu = proc_.add_thread(vmm, "CPU 0/KVM");
  place(vmm);
  const auto group = [&](Pid tid) { return tree_.group_of(tid, hierarchy.str()); };
  const auto home = group(vcpu);
  const auto elsewhere = group(vmm);
  ASSERT_NE(home, elsewhere);

  reconciler_.reset();
  LateFollower follower([&] {
    ASSERT_EQ(group(vcpu), home);
    tree_.outside([&](CgroupTree& tree) {
      ASSERT_TRUE(tree.write({hierarchy, CgroupPath::parse(elsewhere).value()}, "cgroup.threads",
                             std::to_string(vcpu)));
    });
    ASSERT_EQ(group(vcpu), elsewhere);
  });
  start();
  reconciler_->set_follower(&follower);
  run();
  EXPECT_EQ(group(vcpu), home);
  reconciler_.reset();
}

/// What is heard between two parts keeps its urgency.
TEST_F(Reconciling, AWriteToAGroupBehindAPartDoesNotWaitEither) {
  constexpr unsigned kThreads = 13;
  const Pid vmm = found_vmm();
  for (unsigned i = 1; i < kThreads; ++i) (void)proc_.add_thread(vmm, "worker");
  place(vmm);
  unsigned reads = 0;
  proc_.on_read([&] {
    const auto until = thread_cpu_time() + std::chrono::milliseconds(40);
    while (thread_cpu_time() < until) continue;
    ++reads;
    return 0;
  });
  reconciler_->hint({HintKind::group, "x", 0});
  bool written = false;
  while (::sd_event_run(loop_->get(), 0) > 0) {
    if (reads < 2 || std::exchange(written, true)) continue;
    ASSERT_LT(reads, kThreads) << "it was not read in parts";
    reconciler_->hint({HintKind::group, "x", 0});
  }
  EXPECT_TRUE(written);
  EXPECT_GE(reads, 2 * kThreads);
}

/// A guest can make its VMM start threads as it likes; who writes to a group is root.
TEST_F(Reconciling, AWriteToAGroupDoesNotWaitForWhatThreadsHaveCost) {
  const Pid vmm = found_vmm();
  place(vmm);
  unsigned reads = 0;
  proc_.on_read([&] {
    // The whole reserve of CPU time, and more.
    const auto until = thread_cpu_time() + std::chrono::milliseconds(reads == 0 ? 500 : 0);
    while (thread_cpu_time() < until) continue;
    ++reads;
    return 0;
  });
  reconciler_->hint({HintKind::thread, "", vmm});
  run();
  ASSERT_GT(reads, 0U);
  reads = 1;
  reconciler_->hint({HintKind::thread, "", vmm});
  run();
  EXPECT_EQ(reads, 1U) << "it has to wait";
  reconciler_->hint({HintKind::group, "x", 0});
  run();
  EXPECT_GT(reads, 1U);
}

/// A look found it as a child of the shim that had not executed its program yet.
TEST_F(Reconciling, WhoWasFoundInAPartIsHeardBeforeTheNextOne) {
  const auto hierarchy = tree_.host().hierarchies.front().name;
  tree_.make_all(hierarchy.str(), "/kubepods/pod1/x");
  config_.placement.existing = ExistingPolicy::place;
  const Program shim_program{"containerd-shim", "/usr/bin/containerd-shim-kata-v2", {}};
  const Pid shim = proc_.start(1, shim_program);
  const Pid vmm = proc_.start(shim, {"qemu-system-x86", "/usr/bin/qemu-system-x86_64", {}});
  const Pid child = proc_.start(shim, shim_program);
  proc_.set_debugfs(false);
  for (int i = 0; i < 200; ++i) (void)proc_.add_thread(vmm, fmt::format("CPU {}/KVM", i));
  start();
  run();
  Instant until{0};
  unsigned operations = 0;
  tree_.on_operation([&](const FakeWrite&) {
    ++operations;
    until = std::max(until, clock_.now()) + std::chrono::milliseconds(1);
    while (clock_.now() < until) continue;
    return 0;
  });
  auto registered = registration();
  registered.shim = proc_.key(shim);
  registered.vmm = proc_.key(vmm);
  ASSERT_TRUE(reconciler_->api().register_sandbox("x", registered));
  const auto group = [&](Pid tid) { return tree_.group_of(tid, hierarchy.str()); };
  ASSERT_GT(operations, 0U);
  ASSERT_LT(operations, 200U) << "the call ends with the first part";
  proc_.exec(child,
             {"virtiofsd", "/usr/libexec/virtiofsd", {"virtiofsd", "--shared-dir=/shared/x"}});
  reconciler_->hint({HintKind::exec, "", child});
  const auto patience = clock_.now() + std::chrono::seconds(10);
  while (!group(child).ends_with("/io") && clock_.now() < patience)
    (void)::sd_event_run(loop_->get(), 100'000);  // ignored: looked at above
  EXPECT_TRUE(group(child).ends_with("/io")) << group(child);
}

/// A pass that fails is tried again later, and hints do not make it come sooner.
TEST_F(Reconciling, APassThatFailsIsHeldAndOthersGoOn) {
  start();
  run();
  ASSERT_TRUE(reconciler_->api().register_sandbox("x", registration()));
  ASSERT_TRUE(reconciler_->api().register_sandbox("y", registration()));
  run();
  unsigned reads = 0;
  tree_.on_read([&]() -> int {
    ++reads;
    throw std::runtime_error("of memory");
  });
  reconciler_->hint({HintKind::group, "x", 0});
  run();
  EXPECT_GT(std::exchange(reads, 0), 0U);
  EXPECT_EQ(reconciler_->api().list(false).front().state, SandboxState::degraded);
  reconciler_->hint({HintKind::group, "x", 0});
  run();
  EXPECT_EQ(reads, 0U);
  reconciler_->hint({HintKind::group, "y", 0});
  run();
  EXPECT_GT(reads, 0U);
}

}  // namespace
}  // namespace kcg::test
