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

}  // namespace
}  // namespace kcg::test
