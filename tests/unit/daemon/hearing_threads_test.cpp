// SPDX-License-Identifier: Apache-2.0
//
// The reconciler that hears of threads.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/daemon/hearing.hpp"

namespace kcg::test {
namespace {

using Ids = std::vector<std::string>;

/// They are moved with it, and born where it is.
TEST_F(Hearing, ThreadsOfWhoRunsNoVmAreNoNews) {
  const Pid vmm = placed();
  const Pid helper = proc_.start(vmm, {"helper", "/usr/bin/helper", {"helper"}});
  look_by(HintKind::exec, helper);
  unsigned reads = 0;
  proc_.on_read([&reads] {
    ++reads;
    return 0;
  });
  do {
    reads = 0;
    (void)looks_later();  // a glance whether it is where it was moved to
  } while (reads > 0);
  const auto reads_at_a_birth = [&](Pid pid) {
    (void)proc_.add_thread(pid, "new");
    reads = 0;
    reconciler_->hint({HintKind::thread, "", pid});
    run();
    return reads;
  };
  EXPECT_EQ(reads_at_a_birth(helper), 0U);
  EXPECT_GT(reads_at_a_birth(vmm), 0U);
}

/// The vCPUs of a VMM come some milliseconds after it, and are a part of its placement.
TEST_F(Hearing, AThreadOfWhatWasPlacedAMomentAgoGoesBeforeChanges) {
  const Pid vmm = placed();
  auto others = registration();
  others.cgroups_path = "/kubepods/pod2/y";
  for (const char* const id : {"b", "c"})
    ASSERT_TRUE(reconciler_->api().register_sandbox(id, others));
  run();
  const auto seen_beside = [&](const char* other) {
    (void)proc_.add_thread(vmm, "CPU 0/KVM");
    follower_.seen.clear();
    reconciler_->hint({HintKind::group, other, 0});
    reconciler_->hint({HintKind::thread, "", vmm});
    run();
    return follower_.seen;
  };
  (void)looks_later();  // they rest after their look
  EXPECT_EQ(seen_beside("b"), (Ids{"b", "x"}));
  EXPECT_EQ(seen_beside("c"), (Ids{"x", "c"}));
  follower_.looks = 0;
  (void)proc_.add_thread(vmm, "worker");
  reconciler_->hint({HintKind::thread, "", vmm});
  run();
  EXPECT_EQ(follower_.looks, 0U) << "a glance will do";
}

/// Where vCPUs are told, too: a VMM with one and another thread, all in their places.
class HearingOfVcpus : public Hearing {
 protected:
  void settle() {
    follower_.vcpus = true;
    vmm_ = placed();
    vcpu_ = proc_.add_thread(vmm_, "CPU 0/KVM");
    other_ = proc_.add_thread(vmm_, "worker");
    proc_.set_vcpus(vmm_, {vcpu_});
    look_by(HintKind::thread, vmm_);
    (void)looks_later();  // a glance whether they are where they were moved to
    follower_.looks = 0;
  }
  unsigned looks_at(const std::vector<Pid>& tids, Instant at = Instant::max()) {
    reconciler_->hint({HintKind::thread, "", vmm_, "", at, tids});
    run();
    return std::exchange(follower_.looks, 0);
  }
  Pid vmm_ = 0, vcpu_ = 0, other_ = 0;
};

TEST_F(HearingOfVcpus, OnlyTheThreadThatWasHeardOfIsRead) {
  settle();
  proc_.rename(other_, "IO more");
  EXPECT_EQ(looks_at({vcpu_}), 0U);
  EXPECT_EQ(looks_at({other_}), 1U);
  proc_.rename(other_, "worker");
  EXPECT_EQ(looks_at({}), 1U) << "it may be any";
}

/// Events of two threads come one after the other, and a look at the first is between them.
TEST_F(HearingOfVcpus, WhatHappenedToAThreadThatWasNotReadIsStillNews) {
  follower_.groups = true;
  settle();
  const auto named = clock_.now();
  proc_.rename(other_, "IO more");
  const Pid born = proc_.add_thread(vmm_, "IO new");
  EXPECT_EQ(looks_at({born}, named), 1U);
  EXPECT_EQ(looks_at({other_}, named), 1U);
}

/// One that was placed a moment ago has new vCPUs: who else it has is known, unless anybody has
/// told of more than threads.
TEST_F(Hearing, OfThreadsAloneNothingElseIsLookedAt) {
  follower_.groups = true;
  const Pid vmm = placed();
  const auto walks_for_a_vcpu = [&] {
    (void)proc_.add_thread(vmm, "CPU 0/KVM");
    proc_.clear_looks();
    follower_.looks = 0;
    reconciler_->hint({HintKind::thread, "", vmm});
    run();
    EXPECT_EQ(follower_.looks, 1U);
    return proc_.walked().contains(vmm);
  };
  /// Its groups are known, and it rests.
  const auto afresh = [&] {
    (void)looks_later();
    reconciler_->hint({HintKind::group, "x", 0});
    run();
  };
  afresh();
  EXPECT_FALSE(walks_for_a_vcpu());
  reconciler_->hint({HintKind::population, "x", 0});
  EXPECT_TRUE(walks_for_a_vcpu());
  afresh();
  follower_.hears = [&] { reconciler_->hint({HintKind::population, "x", 0}); };
  EXPECT_TRUE(walks_for_a_vcpu());
  afresh();
  reconciler_->hint({HintKind::bundle, new_bundle("x"), 0});
  EXPECT_TRUE(walks_for_a_vcpu());
}

/// Also where the next one moves nobody. On a busy machine it may have been seen to before that.
TEST_F(Hearing, WhatWasMovedIsSeenToBehindALookAtThreadsAlone) {
  follower_.groups = true;
  const Pid vmm = placed();
  const auto seen_to_later = [&] {
    (void)looks_later();
    (void)proc_.add_thread(vmm, "CPU 0/KVM");
    const Pid other = proc_.add_thread(vmm, "CPU 1/KVM");
    look_by(HintKind::thread, vmm);
    proc_.exit_thread(other);
    look_by(HintKind::thread, vmm);
    take_away(vmm);  // and nobody tells
    return looks_later() > 0;
  };
  bool seen = false;
  for (int tries = 0; tries < 10 && !seen; ++tries) seen = seen_to_later();
  EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace kcg::test
