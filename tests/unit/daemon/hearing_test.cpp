// SPDX-License-Identifier: Apache-2.0
//
// The reconciler where events tell what happens: what is looked at together, and what at once.
#include "daemon/reconciler.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "base/dir.hpp"
#include "daemon/node/cpu_time.hpp"
#include "unit/daemon/reconciling.hpp"

namespace kcg::test {
namespace {

/// Counts the looks that were taken, and tells of nothing.
class CountingFollower final : public Follower {
 public:
  void follow(const SandboxId& id, const Observed&) override {
    ++looks;
    seen.push_back(id.str());
    for (const auto until = thread_cpu_time() + costs; thread_cpu_time() < until;) continue;
  }
  void hear_groups() override {}
  void leave(const SandboxId&) override {}
  void set_mode(Mode) override {}
  unsigned looks = 0;
  std::vector<std::string> seen;  ///< whom
  Instant costs{0};               ///< CPU time of each
};

/// Where events tell what happens.
class Hearing : public Reconciling {
 protected:
  /// A VMM that was placed, and nothing is left to do.
  Pid placed() {
    const Pid vmm = found_vmm();
    place(vmm);
    reconciler_->set_follower(&follower_);
    reconciler_->hint({HintKind::process_end, "x", vmm});
    run();
    follower_.looks = 0;
    return vmm;
  }
  /// As somebody else moves it.
  void take_away(Pid vmm) {
    tree_.outside([&](CgroupTree& tree) {
      const auto elsewhere = CgroupPath::parse("/kubepods/pod1/x").value();
      ASSERT_TRUE(tree.write({tree_.host().hierarchies.front().name, elsewhere}, "cgroup.procs",
                             std::to_string(vmm)));
    });
  }
  /// Does not wait.
  void look_by(HintKind kind, Pid pid) {
    follower_.looks = 0;
    reconciler_->hint({kind, "x", pid});
    run();
    EXPECT_EQ(std::exchange(follower_.looks, 0), 1U);
  }
  /// Until there was one, and nothing more is due.
  void wait_for_a_look() {
    const auto patience = clock_.now() + std::chrono::seconds(10);
    while (follower_.looks == 0 && clock_.now() < patience)
      (void)::sd_event_run(loop_->get(), 100'000);  // ignored: looked at below
    run();
    EXPECT_EQ(follower_.looks, 1U);
  }
  /// How many there are while a rest, and the time to a look that finds nothing left, go by.
  unsigned looks_later() {
    const auto until = clock_.now() + kRest + kConfirm;
    for (auto now = clock_.now(); now < until; now = clock_.now())
      // ignored: only what was looked at counts
      (void)::sd_event_run(loop_->get(), static_cast<std::uint64_t>((until - now).count()));
    return follower_.looks;
  }
  /// Of the sandbox "b"; nobody has told of it.
  std::string new_bundle() {
    auto task = directory() + "/containerd/io.containerd.runtime.v2.task/k8s.io/b";
    std::filesystem::create_directories(task);
    std::ofstream(task + "/config.json")
        << R"({"annotations": {"io.kubernetes.cri.container-type": "sandbox",
               "io.kubernetes.cri.sandbox-id": "b"}, "linux": {"cgroupsPath": "/kubepods/pod1/b"}})";
    std::ofstream(task + "/shim-binary-path") << "/usr/bin/containerd-shim-kata-v2";
    return task;
  }
  /// Who calls himself the shim of "b", and works in `directory`.
  Pid shim_executes(const std::string& directory, bool hangs = false, bool told = true) {
    const Pid pid = proc_.start(1, {"containerd-shim",
                                    "/usr/bin/containerd-shim-kata-v2",
                                    {"shim", "-namespace", "k8s.io", "-id", "b"},
                                    directory});
    const auto stamp = Dir::open(directory).value().stamp().value();
    proc_.process(pid).cwd_id = FileId{stamp.device, stamp.inode};
    proc_.set_hanging(pid, hangs);
    if (told) reconciler_->hint({HintKind::exec, "", pid});
    return pid;
  }
  void TearDown() override { reconciler_.reset(); }

  CountingFollower follower_;
};

TEST_F(Hearing, WhatRootDoesSoonAfterALookIsLookedAtTogether) {
  const Pid vmm = placed();
  const auto looked = clock_.now();
  look_by(HintKind::process_end, vmm);
  reconciler_->hint({HintKind::group, "x", 0});
  run();
  reconciler_->hint({HintKind::group, "x", 0});
  wait_for_a_look();
  EXPECT_GE(clock_.now(), looked + kRest);
}

TEST_F(Hearing, ABundleWaitsForItsShim) {
  start();
  run();
  reconciler_->set_follower(&follower_);
  const auto told = clock_.now();
  reconciler_->hint({HintKind::bundle, new_bundle(), 0});
  run();
  EXPECT_EQ(follower_.looks, 0U);
  wait_for_a_look();
  EXPECT_GE(clock_.now(), told + kRestBeforeVmm);
}

/// What a shim does between its VMM's end and its own is looked at together.
TEST_F(Hearing, AVmmsEndWaitsForItsShims) {
  tree_.make_all(tree_.host().hierarchies.front().name, "/kubepods/pod1/x");
  config_.placement.existing = ExistingPolicy::place;
  const Pid shim = proc_.start(1, {"containerd-shim", "/usr/bin/containerd-shim-kata-v2", {}});
  const Pid vmm = proc_.start(shim, {"qemu-system-x86", "/usr/bin/qemu-system-x86_64", {}});
  start();
  run();
  reconciler_->set_follower(&follower_);
  auto registered = registration();
  registered.shim = proc_.key(shim);
  registered.vmm = proc_.key(vmm);
  ASSERT_TRUE(reconciler_->api().register_sandbox("x", registered));
  run();
  // Threads that nothing names are glanced at for half a second.
  for (int times = 0; times < 6; ++times) (void)looks_later();
  follower_.looks = 0;
  const auto ended = clock_.now();
  proc_.exit_process(vmm);
  reconciler_->hint({HintKind::process_end, "x", vmm});
  reconciler_->hint({HintKind::group, "x", 0});
  run();
  EXPECT_EQ(follower_.looks, 0U);
  wait_for_a_look();
  EXPECT_GE(clock_.now(), ended + kShimFollows);
  follower_.looks = 0;
  proc_.exit_process(shim);
  reconciler_->hint({HintKind::process_end, "x", shim});
  run();
  EXPECT_GE(follower_.looks, 1U) << "nobody follows it";
}

TEST_F(Hearing, AnEndOrAProgramThatExecutesWaitsForNothing) {
  const Pid vmm = placed();
  look_by(HintKind::process_end, vmm);
  look_by(HintKind::exec, vmm);
  reconciler_->hint({HintKind::group, "x", 0});
  look_by(HintKind::process_end, vmm);
  EXPECT_EQ(looks_later(), 0U) << "the look has seen what waited";
}

/// Who has asked for it waits for the look that finds nothing left; nobody else does: a glance
/// tells whether what was moved is where it was moved to.
TEST_F(Hearing, WhatWasWrittenIsGlancedAtLaterUnlessSomebodyWaits) {
  const auto hierarchy = tree_.host().hierarchies.front().name;
  const Pid vmm = placed();
  const auto home = tree_.group_of(vmm, hierarchy);
  take_away(vmm);
  look_by(HintKind::process_end, vmm);
  EXPECT_EQ(tree_.group_of(vmm, hierarchy), home);
  EXPECT_EQ(looks_later(), 0U);
  take_away(vmm);
  look_by(HintKind::process_end, vmm);
  take_away(vmm);  // and nobody tells
  EXPECT_EQ(looks_later(), 1U);
  EXPECT_EQ(tree_.group_of(vmm, hierarchy), home);
  follower_.looks = 0;
  take_away(vmm);
  reconciler_->api().reconcile("x", false, answer());
  run();
  EXPECT_EQ(answers_.size(), 1U);
  EXPECT_EQ(tree_.group_of(vmm, hierarchy), home);
  EXPECT_EQ(looks_later(), 1U) << "only the one that was asked for";
}

/// A task that somebody takes away again and again is left alone, until somebody asks.
TEST_F(Hearing, WhatIsContestedIsTriedAgainWhenSomebodyAsks) {
  const auto hierarchy = tree_.host().hierarchies.front().name;
  const Pid vmm = placed();
  const auto home = tree_.group_of(vmm, hierarchy);
  const auto taken_away = [&] {
    take_away(vmm);
    reconciler_->hint({HintKind::process_end, "x", vmm});
    run();
    return tree_.group_of(vmm, hierarchy) != home;
  };
  unsigned repaired = 0;
  while (repaired < 20 && !taken_away()) ++repaired;
  EXPECT_LT(repaired, 20U);
  reconciler_->api().reconcile("x", false, answer());
  run();
  EXPECT_EQ(tree_.group_of(vmm, hierarchy), home);
  EXPECT_FALSE(taken_away()) << "it is counted anew";
}

TEST_F(Hearing, AShimMayBeHeardOfBeforeItsBundle) {
  start();
  run();
  shim_executes(new_bundle());
  run();
  EXPECT_EQ(reconciler_->api().list(false).size(), 1U);
}

/// There may be descriptors again in a moment, and nobody tells of it a second time.
TEST_F(Hearing, AShimThatCannotBeReadIsFoundByALookAtTheNode) {
  start();
  run();
  const auto task = new_bundle();
  proc_.on_read([] { return EMFILE; });
  (void)shim_executes(task);
  proc_.on_read({});
  run();
  EXPECT_EQ(reconciler_->api().list(false).size(), 1U);
}

/// A reader's thread that gets no CPU is as slow as a file that hangs.
TEST_F(Hearing, AShimWhoseArgumentsComeLateIsNotMissed) {
  start();
  run();
  const Pid shim = shim_executes(new_bundle(), true);
  run();
  const auto pid = [this] { return reconciler_->api().list(false).at(0).shim_pid; };
  ASSERT_EQ(reconciler_->api().list(false).size(), 1U);
  EXPECT_EQ(pid(), 0);
  proc_.set_hanging(shim, false);
  for (int event = 0; event < 20 && pid() == 0; ++event)
    (void)::sd_event_run(loop_->get(), 500'000);  // ignored: looked at below
  EXPECT_EQ(pid(), shim);
}

/// Any user can run what has a shim's name and arguments.
TEST_F(Hearing, AShimThatIsNoneIsNoReasonToLook) {
  const auto task = new_bundle();
  start();
  run();
  reconciler_->set_follower(&follower_);
  shim_executes(directory());
  run();
  EXPECT_EQ(follower_.looks, 0U);
  shim_executes(task);
  run();
  EXPECT_EQ(follower_.looks, 1U);
}

/// It says nothing before its shim executes, which it is about to do.
TEST_F(Hearing, ANewBundleIsLookedAtWithItsShim) {
  start();
  run();
  reconciler_->set_follower(&follower_);
  const auto task = new_bundle();
  const auto written = clock_.now();
  reconciler_->hint({HintKind::bundle, task, 0});
  run();
  wait_for_a_look();
  EXPECT_GE(clock_.now(), written + kRest);
  EXPECT_EQ(reconciler_->api().list(false).size(), 1U);
}

/// Kata moves its shim, makes its groups and writes its state meanwhile.
TEST_F(Hearing, UntilItsVmmExecutesNothingElseIsInAHurry) {
  start();
  run();
  reconciler_->set_follower(&follower_);
  const Pid shim = shim_executes(new_bundle());
  run();
  EXPECT_EQ(std::exchange(follower_.looks, 0), 1U);
  const auto looked = clock_.now();
  reconciler_->hint({HintKind::group, "b", 0});
  run();
  wait_for_a_look();
  EXPECT_GE(clock_.now(), looked + kRestBeforeVmm - kRest);
  follower_.looks = 0;
  reconciler_->hint({HintKind::group, "b", 0});
  reconciler_->hint(
      {HintKind::exec, "", proc_.start(shim, {"q", "/q", {"q", "-name", "sandbox-b"}})});
  run();
  EXPECT_EQ(follower_.looks, 1U) << "its VMM waits for nothing";
}

/// 100 ms, which are more than the share of so short an interval, hold two looks of 60 ms.
TEST_F(Hearing, AResyncIsBoundedWhereNothingWasLost) {
  config_.reconcile_interval = std::chrono::seconds(1);
  start();
  run();
  for (const char* id : {"a", "b", "c", "d"}) {
    Registration one;
    one.cgroups_path = fmt::format("/kubepods/pod{}/x", id);
    ASSERT_TRUE(reconciler_->api().register_sandbox(id, one));
  }
  run();
  reconciler_->set_follower(&follower_);
  follower_.costs = std::chrono::milliseconds(60);
  for (int event = 0; event < 100 && follower_.looks == 0; ++event)
    (void)::sd_event_run(loop_->get(), 100'000);  // ignored: looked at below
  run();
  EXPECT_EQ(std::exchange(follower_.looks, 0), 2U);
  reconciler_->hint({HintKind::rescan, "", 0});
  run();
  EXPECT_EQ(follower_.looks, 4U) << "events were lost";
}

/// Two looks take the share of so short an interval: "x" waits for the second one, and an event in
/// between, for which a glance will do, does not cost it its place.
TEST_F(Hearing, AnEventDoesNotTakeTheLookOfAResync) {
  config_.reconcile_interval = std::chrono::seconds(1);
  const Pid vmm = placed();
  for (const char* id : {"a", "b", "c"}) {
    Registration one;
    one.cgroups_path = fmt::format("/kubepods/pod{}/x", id);
    ASSERT_TRUE(reconciler_->api().register_sandbox(id, one));
  }
  run();
  follower_.costs = std::chrono::milliseconds(60);
  const auto seen_in_an_interval = [this] {
    follower_.seen.clear();
    for (int event = 0; event < 100 && follower_.seen.empty(); ++event)
      (void)::sd_event_run(loop_->get(), 100'000);  // ignored: looked at below
    run();
    return follower_.seen;
  };
  EXPECT_EQ(seen_in_an_interval(), (std::vector<std::string>{"a", "b"}));
  const auto a_glance_will_do = [&] {
    follower_.seen.clear();
    reconciler_->hint({HintKind::thread, "", vmm});
    run();
    return follower_.seen.empty();
  };
  EXPECT_TRUE(a_glance_will_do());
  EXPECT_EQ(seen_in_an_interval(), (std::vector<std::string>{"c", "x"}));
  EXPECT_EQ(seen_in_an_interval(), (std::vector<std::string>{"a", "b"}));
  look_by(HintKind::process_end, vmm);
  EXPECT_TRUE(a_glance_will_do());
  EXPECT_EQ(seen_in_an_interval(), (std::vector<std::string>{"c", "a"})) << "it had its look";
}

TEST_F(Hearing, LossesCauseOneFullLookPerSecond) {
  (void)placed();
  const auto began = clock_.now();
  const auto lose = [this] {
    reconciler_->hint({HintKind::rescan, "", 0});
    run();
    return std::exchange(follower_.looks, 0);
  };
  EXPECT_EQ(lose(), 1U);
  EXPECT_EQ(lose() + lose(), 0U);
  wait_for_a_look();
  EXPECT_GE(clock_.now(), began + std::chrono::seconds(1));
}

/// What came while one was under way may lie behind what it has looked at.
TEST_F(Hearing, AFullLookThatIsAskedForDuringAnotherFollowsIt) {
  start();
  run();
  for (int i = 0; i < 200; ++i) (void)proc_.start(1, {"x", "/x", {"x"}});
  unsigned reads = 0;
  proc_.on_read([&] {
    for (const auto until = thread_cpu_time() + std::chrono::microseconds(100);
         thread_cpu_time() < until;)
      continue;
    ++reads;
    return 0;
  });
  reconciler_->hint({HintKind::rescan, "", 0});
  while (reads == 0) ASSERT_GT(::sd_event_run(loop_->get(), 0), 0);
  const Pid shim = shim_executes(new_bundle(), false, false);
  reconciler_->api().set_config_reader([this]() -> Result<Config> { return config_; });
  ASSERT_TRUE(reconciler_->api().reload());
  run();
  ASSERT_EQ(reconciler_->api().list(false).size(), 1U);
  EXPECT_EQ(reconciler_->api().list(false).at(0).shim_pid, shim);
}

/// Until there is its bundle, whoever claims to be its shim may be it; a crowd of them is nobody's.
TEST_F(Hearing, ShimsWithoutABundleAreBounded) {
  start();
  run();
  ASSERT_TRUE(reconciler_->api().register_sandbox("b", registration()));
  run();
  std::set<Pid> claiming;
  while (claiming.size() < 40) claiming.insert(shim_executes(directory()));
  run();
  proc_.clear_looks();
  reconciler_->api().reconcile("b", false, answer());
  run();
  std::size_t looked = 0;
  for (const Pid pid : claiming) looked += proc_.looked_at().count(pid);
  EXPECT_EQ(looked, 16U);
}

}  // namespace
}  // namespace kcg::test
