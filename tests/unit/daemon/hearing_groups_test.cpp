// SPDX-License-Identifier: Apache-2.0
//
// The reconciler where events tell what happens: when groups are read, and when they are taken as
// they were seen.
#include <gtest/gtest.h>

#include "unit/daemon/hearing.hpp"

namespace kcg::test {
namespace {

class HearingOfGroups : public Hearing {
 protected:
  void count_reads(unsigned& reads) {
    tree_.on_read([&reads] {
      ++reads;
      return 0;
    });
  }
};

/// Nobody has told of its groups since they were seen.
TEST_F(HearingOfGroups, AThreadThatIsBornIsNoReasonToReadAllGroups) {
  const Pid vmm = placed();
  unsigned reads = 0;
  count_reads(reads);
  const auto reads_at_a_birth = [&](bool told, bool written) {
    reads = 0;
    follower_.groups = told;
    if (written) reconciler_->hint({HintKind::group, "x", 0});
    proc_.rename(proc_.add_thread(vmm, "new"), "CPU 7/KVM");
    look_by(HintKind::thread, vmm);
    return reads;
  };
  const auto few = reads_at_a_birth(true, false);
  follower_.groups = false;
  look_by(HintKind::process_end, vmm);  // it was changed what a vCPU more is worth
  const auto all = reads_at_a_birth(false, false);
  look_by(HintKind::process_end, vmm);
  const auto written = reads_at_a_birth(true, true);
  EXPECT_LE(few * 2, all);
  EXPECT_GE(written, all);
}

/// Nobody tells of a limit above the pod: whoever asks wants to know it as it is.
TEST_F(HearingOfGroups, WhoAsksIsAnsweredByALookThatReadsAll) {
  const Pid vmm = placed();
  const GroupRef root{tree_.host().hierarchies.front().name, CgroupPath()};
  tree_.outside([&](CgroupTree& tree) {
    ASSERT_TRUE(tree.write(root, "cgroup.subtree_control", "+memory"));
  });
  look_by(HintKind::process_end, vmm);
  unsigned reads = 0;
  count_reads(reads);
  look_by(HintKind::process_end, vmm);
  const auto by_an_event = std::exchange(reads, 0);
  reconciler_->api().reconcile("x", false, answer());
  run();
  EXPECT_EQ(answers_.size(), 1U);
  EXPECT_EQ(follower_.looks, 1U);
  EXPECT_GT(reads, by_an_event);
}

/// What was made for it is known, and what Kata makes beside that is read alone.
TEST_F(HearingOfGroups, WhatWasMadeIsNotReadWhenTheVmmExecutes) {
  const auto bundle = bundle_beside_the_daemon();
  follower_.groups = true;
  const Pid shim = shim_executes(bundle);
  wait_for_a_look();
  follower_.looks = 0;
  unsigned reads = 0;
  count_reads(reads);
  reconciler_->hint({HintKind::made_group, "b", 0});
  (void)vmm_executes(shim);
  run();
  EXPECT_EQ(std::exchange(follower_.looks, 0), 1U) << "it has seen what Kata made, too";
  const auto few = std::exchange(reads, 0);
  reconciler_->hint({HintKind::group, "b", 0});
  wait_for_a_look();
  EXPECT_LE(few * 2, reads);
}

/// Only who is in them is read anew.
TEST_F(HearingOfGroups, GroupsThatRunEmptyHaveNotChanged) {
  const Pid vmm = placed();
  follower_.groups = true;
  look_by(HintKind::process_end, vmm);
  unsigned reads = 0;
  count_reads(reads);
  const auto reads_by = [&](HintKind kind) {
    reads = 0;
    follower_.looks = 0;
    reconciler_->hint({kind, "x", 0});
    wait_for_a_look();
    return reads;
  };
  const auto few = reads_by(HintKind::population);
  EXPECT_LE(few * 2, reads_by(HintKind::group));
}

/// A second time within a second the node is looked at later; this is about who is looked at
/// before.
TEST_F(HearingOfGroups, WhereEventsWereLostNoneIsTakenAsItWasSeen) {
  const Pid vmm = placed();
  follower_.groups = true;
  reconciler_->hint({HintKind::rescan, "", 0});
  run();
  unsigned reads = 0;
  count_reads(reads);
  const auto reads_at_a_birth = [&](bool lost) {
    look_by(HintKind::process_end, vmm);
    reads = 0;
    if (lost) reconciler_->hint({HintKind::rescan, "", 0});
    proc_.rename(proc_.add_thread(vmm, "new"), "CPU 7/KVM");
    look_by(HintKind::thread, vmm);
    return reads;
  };
  const auto few = reads_at_a_birth(false);
  EXPECT_LE(few * 2, reads_at_a_birth(true));
}

}  // namespace
}  // namespace kcg::test
