// SPDX-License-Identifier: Apache-2.0
//
// What is heard of a sandbox between its bundle and its VMM: its shim's exec and what Kata does
// until then.
#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

#include "unit/daemon/hearing.hpp"

namespace kcg::test {
namespace {

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
  EXPECT_EQ(follower_.expecting, std::vector<Pid>());
  const Pid shim = shim_executes(task);
  EXPECT_EQ(follower_.expecting, std::vector<Pid>{shim});
  wait_for_a_look();
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
  (void)bundle_beside_the_daemon();
  const auto executed = clock_.now();
  const Pid shim = shim_executes(new_bundle());
  wait_for_a_look();
  const auto looked = clock_.now();
  EXPECT_GE(looked, executed + kRestBeforeVmm);
  EXPECT_NE(tree_.group_of(shim, "v2").find("kata-sandbox-b"), std::string::npos);
  follower_.looks = 0;
  reconciler_->hint({HintKind::group, "b", 0});
  run();
  wait_for_a_look();
  EXPECT_GE(clock_.now(), looked + kRestBeforeVmm - kRest);
  follower_.looks = 0;
  reconciler_->hint({HintKind::group, "b", 0});
  vmm_executes(shim);
  run();
  EXPECT_EQ(follower_.looks, 1U) << "its VMM waits for nothing";
}

/// Kata moves its shim before it starts its VMM: to place it before that would be in vain.
TEST_F(Hearing, AShimIsPlacedWithItsVmm) {
  config_.placement.existing = ExistingPolicy::place;  // the fake's processes have no age
  const auto bundle = bundle_beside_the_daemon();
  follower_.groups = true;
  const Pid shim = shim_executes(bundle);
  reconciler_->hint({HintKind::thread, "", shim});
  reconciler_->hint({HintKind::bundle, bundle, 0});
  reconciler_->hint({HintKind::made_group, "b", 0});
  run();
  EXPECT_EQ(follower_.looks, 0U);
  const Pid vmm = vmm_executes(shim);
  run();
  EXPECT_EQ(follower_.looks, 1U);
  EXPECT_TRUE(tree_.group_of(shim, "v2").ends_with("kata-sandbox-b/shim"));
  EXPECT_TRUE(tree_.group_of(vmm, "v2").ends_with("kata-sandbox-b/vmm"));
}

/// Engines write a bundle well before they start the shim.
TEST_F(Hearing, AShimWaitsForItsVmmHoweverLongAgoItsBundleCame) {
  const auto bundle = bundle_beside_the_daemon();
  reconciler_->hint({HintKind::bundle, bundle, 0});
  const auto half = clock_.now() + kRestBeforeVmm / 2;
  for (auto now = clock_.now(); now < half; now = clock_.now())
    // ignored: only the time counts
    (void)::sd_event_run(loop_->get(), static_cast<std::uint64_t>((half - now).count()));
  const auto executed = clock_.now();
  const Pid shim = shim_executes(bundle);
  wait_for_a_look();
  EXPECT_GE(clock_.now(), executed + kRestBeforeVmm);
  EXPECT_NE(tree_.group_of(shim, "v2").find("kata-sandbox-b"), std::string::npos);
}

TEST_F(Hearing, AShimWaitsForItsVmmAlsoWhereItsBundleWasLookedAt) {
  const auto bundle = bundle_beside_the_daemon();
  reconciler_->hint({HintKind::bundle, bundle, 0});
  wait_for_a_look();
  follower_.looks = 0;
  (void)shim_executes(bundle);
  run();
  EXPECT_EQ(follower_.looks, 0U);
}

/// Each look would be put off by the next one that calls himself its shim.
TEST_F(Hearing, OnlyTheFirstShimWaitsForItsVmm) {
  const auto bundle = bundle_beside_the_daemon();
  (void)shim_executes(bundle);
  run();
  EXPECT_EQ(follower_.looks, 0U);
  (void)shim_executes(bundle);
  run();
  EXPECT_EQ(follower_.looks, 1U);
}

/// Its VMM's exec would not be heard of.
TEST_F(Hearing, WhereNobodyTellsOfItsVmmAShimIsLookedAtAtOnce) {
  const auto bundle = bundle_beside_the_daemon();
  follower_.threads = false;
  (void)shim_executes(bundle);
  run();
  EXPECT_EQ(follower_.looks, 1U);
}

}  // namespace
}  // namespace kcg::test
