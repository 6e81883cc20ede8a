// SPDX-License-Identifier: Apache-2.0
//
// The reconciler that looks at everything again: what bounds that, and what does not.
#include <gtest/gtest.h>

#include <cerrno>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "unit/daemon/hearing.hpp"

namespace kcg::test {
namespace {

constexpr Instant kReadCosts = std::chrono::milliseconds(1);

class ResyncHearing : public Hearing {
 protected:
  void register_all(std::initializer_list<const char*> ids) {
    for (const char* id : ids) {
      Registration one;
      one.cgroups_path = fmt::format("/kubepods/pod{}/x", id);
      ASSERT_TRUE(reconciler_->api().register_sandbox(id, one));
    }
    run();
  }
  /// Whom the next looks were at, until nothing more is due.
  std::vector<std::string> seen_in_an_interval() {
    follower_.seen.clear();
    for (int event = 0; event < 100 && follower_.seen.empty(); ++event)
      (void)::sd_event_run(loop_->get(), 100'000);  // ignored: looked at below
    run();
    return follower_.seen;
  }
  /// Each read below /proc takes so much CPU time, and counts.
  void make_reads_dear(Instant each) {
    proc_.on_read([this, each] {
      burn(each);
      ++reads_;
      return 0;
    });
  }

  unsigned reads_ = 0;
};

/// 100 ms, which are more than the share of so short an interval, hold two looks of 60 ms.
TEST_F(ResyncHearing, AResyncIsBoundedWhereNothingWasLost) {
  config_.reconcile_interval = std::chrono::seconds(1);
  start();
  run();
  register_all({"a", "b", "c", "d"});
  reconciler_->set_follower(&follower_);
  follower_.costs = std::chrono::milliseconds(60);
  for (int event = 0; event < 100 && follower_.looks == 0; ++event)
    (void)::sd_event_run(loop_->get(), 100'000);  // ignored: looked at below
  run();
  EXPECT_EQ(std::exchange(follower_.looks, 0), 2U);
  config_.reconcile_interval = std::chrono::hours(1);  // no other one comes in between
  reconciler_->api().set_config_reader([this]() -> Result<Config> { return config_; });
  ASSERT_TRUE(reconciler_->api().reload());
  run();
  EXPECT_EQ(std::exchange(follower_.looks, 0), 4U);
  reconciler_->hint({HintKind::rescan, "", 0});
  run();
  EXPECT_EQ(follower_.looks, 4U) << "events were lost";
}

/// Half of the share of so short an interval is over after one portion of 64 processes.
TEST_F(ResyncHearing, ASearchIsBoundedWhereNothingWasLost) {
  config_.reconcile_interval = std::chrono::seconds(1);
  start();
  run();
  while (proc_.pids()->size() < 150) (void)proc_.start(1, {"x", "/x", {"x"}});
  make_reads_dear(kReadCosts);
  const auto search = [&] {
    for (int event = 0; event < 100 && reads_ == 0; ++event)
      (void)::sd_event_run(loop_->get(), 100'000);  // ignored: looked at below
    run();
    return std::exchange(reads_, 0);
  };
  EXPECT_EQ(search(), 1 + 64U) << "their list, and some of them";
  EXPECT_EQ(search(), 64U);
  EXPECT_EQ(search(), 150 - 2 * 64U) << "the others";
  EXPECT_EQ(search(), 1 + 64U);
  reconciler_->hint({HintKind::rescan, "", 0});
  EXPECT_EQ(search(), 1 + 150U) << "events were lost, before and behind where it rests";
}

TEST_F(ResyncHearing, WhatIsLostDuringASearchEndsItsBound) {
  config_.reconcile_interval = std::chrono::seconds(1);
  start();
  run();
  while (proc_.pids()->size() < 300) (void)proc_.start(1, {"x", "/x", {"x"}});
  make_reads_dear(kReadCosts / 4);
  while (reads_ == 0) (void)::sd_event_run(loop_->get(), 100'000);  // ignored: looked at below
  EXPECT_LT(reads_, 300U) << "it is under way";
  reconciler_->api().set_config_reader([this]() -> Result<Config> { return config_; });
  ASSERT_TRUE(reconciler_->api().reload());
  run();
  EXPECT_EQ(reads_, 2 * (1 + 300U));
}

/// Some 90 ms of 100 are left of so short an interval. What the search may take at most is several
/// times as much as it does: a busy machine's accounts are rough.
TEST_F(ResyncHearing, WhatASearchTakesIsTakenOffTheLooks) {
  config_.reconcile_interval = std::chrono::seconds(1);
  start();
  run();
  register_all({"a", "b", "c", "d"});
  while (proc_.pids()->size() < 10) (void)proc_.start(1, {"x", "/x", {"x"}});
  make_reads_dear(kReadCosts);
  reconciler_->set_follower(&follower_);
  follower_.costs = std::chrono::milliseconds(90);
  for (int event = 0; event < 100 && follower_.looks == 0; ++event)
    (void)::sd_event_run(loop_->get(), 100'000);  // ignored: looked at below
  run();
  EXPECT_EQ(follower_.looks, 1U);
}

TEST_F(ResyncHearing, NobodyIsForgottenWhereTheListOfProcessesCannotBeRead) {
  start();
  run();
  const auto before = proc_.not_forgotten();
  (void)proc_.start(1, {"x", "/x", {"x"}});
  proc_.on_read([] { return EIO; });
  reconciler_->hint({HintKind::rescan, "", 0});
  run();
  EXPECT_EQ(proc_.not_forgotten(), before);
  proc_.on_read({});
  reconciler_->api().set_config_reader([this]() -> Result<Config> { return config_; });
  ASSERT_TRUE(reconciler_->api().reload());
  run();
  EXPECT_EQ(proc_.not_forgotten(), *proc_.pids());
}

/// Two looks take the share of so short an interval: "x" waits for the second one, and an event in
/// between, for which a glance will do, does not cost it its place.
TEST_F(ResyncHearing, AnEventDoesNotTakeTheLookOfAResync) {
  config_.reconcile_interval = std::chrono::seconds(1);
  const Pid vmm = placed();
  register_all({"a", "b", "c"});
  follower_.costs = std::chrono::milliseconds(60);
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

/// Nor does a look at threads alone, which comes while "x" waits behind "a". A second after its
/// groups were read it would be a whole one.
TEST_F(ResyncHearing, ALookAtThreadsAloneDoesNotTakeTheLookOfAResync) {
  config_.reconcile_interval = std::chrono::milliseconds(200);
  follower_.groups = true;
  const Pid vmm = placed();
  register_all({"a"});
  std::vector<std::string> seen;
  bool alone = false;
  for (int tries = 0; tries < 20 && !alone; ++tries) {
    const Pid vcpu = proc_.add_thread(vmm, "CPU 0/KVM");
    reconciler_->hint({HintKind::group, "x", 0});
    reconciler_->hint({HintKind::exec, "", vmm});
    run();
    bool ended = false;
    follower_.looked = [&](const std::string& id) {
      if (id == "x") alone = alone || (ended && !proc_.walked().contains(vmm));
      if (id != "a" || std::exchange(ended, true)) return;
      proc_.exit_thread(vcpu);
      proc_.clear_looks();
      reconciler_->hint({HintKind::thread, "", vmm});
    };
    seen = seen_in_an_interval();
    follower_.looked = nullptr;
    if (!ended) proc_.exit_thread(vcpu);
  }
  ASSERT_TRUE(alone);
  EXPECT_EQ(seen, (std::vector<std::string>{"a", "x", "x"}));
}

TEST_F(ResyncHearing, LossesCauseOneFullLookPerSecond) {
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
TEST_F(ResyncHearing, AFullLookThatIsAskedForDuringAnotherFollowsIt) {
  start();
  run();
  for (int i = 0; i < 200; ++i) (void)proc_.start(1, {"x", "/x", {"x"}});
  make_reads_dear(kReadCosts / 10);
  reconciler_->hint({HintKind::rescan, "", 0});
  while (reads_ == 0) ASSERT_GT(::sd_event_run(loop_->get(), 0), 0);
  const Pid shim = shim_executes(new_bundle(), false, false);
  reconciler_->api().set_config_reader([this]() -> Result<Config> { return config_; });
  ASSERT_TRUE(reconciler_->api().reload());
  run();
  ASSERT_EQ(reconciler_->api().list(false).size(), 1U);
  EXPECT_EQ(reconciler_->api().list(false).at(0).shim_pid, shim);
}

/// Until there is its bundle, whoever claims to be its shim may be it; a crowd of them is nobody's.
TEST_F(ResyncHearing, ShimsWithoutABundleAreBounded) {
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
