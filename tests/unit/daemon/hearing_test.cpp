// SPDX-License-Identifier: Apache-2.0
//
// The reconciler where events tell what happens: what is looked at together, and what at once.
#include <gtest/gtest.h>

#include "unit/daemon/hearing.hpp"

namespace kcg::test {
namespace {

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
  tree_.make_all(tree_.host().hierarchies.front().name.str(), "/kubepods/pod1/x");
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

/// The kernel shows one that ends in no group long before it has ended.
TEST_F(Hearing, ARegistrationGoesWithWhomItNamedHoweverHeIsFound) {
  config_.placement.existing = ExistingPolicy::place;
  start();
  run();
  reconciler_->set_follower(&follower_);
  const auto tell_end = [&](Pid pid) {
    reconciler_->hint({HintKind::process_end, "x", pid});
    run();
    (void)looks_later();  // which find that nothing is left
  };
  const auto end_is_told = [&](char state) {
    const Pid shim = proc_.start(1, {"containerd-shim", "/usr/bin/containerd-shim-kata-v2", {}});
    auto registered = registration();
    registered.shim = proc_.key(shim);
    EXPECT_TRUE(reconciler_->api().register_sandbox("x", registered));
    run();
    follower_.awaited.clear();
    proc_.set_ending(shim, state);
    tell_end(shim);
    const bool awaited = follower_.awaited == std::vector<Pid>{shim};
    EXPECT_EQ(reconciler_->api().registered().size(), awaited ? 1U : 0U);
    follower_.looks = 0;
    reconciler_->hint({HintKind::process_end, "x", 1});
    run();
    EXPECT_EQ(follower_.looks, 0U) << "somebody else's end";
    proc_.exit_process(shim);
    if (awaited) tell_end(shim);
    EXPECT_TRUE(reconciler_->api().registered().empty()) << state;
    return awaited;
  };
  EXPECT_TRUE(end_is_told('S')) << "killed, and its memory is given back";
  EXPECT_FALSE(end_is_told('X')) << "its parent has waited for it";
  EXPECT_FALSE(end_is_told('Z'));
}

TEST_F(Hearing, AnEndOrAProgramThatExecutesWaitsForNothing) {
  const Pid vmm = placed();
  look_by(HintKind::process_end, vmm);
  look_by(HintKind::exec, vmm);
  reconciler_->hint({HintKind::group, "x", 0});
  look_by(HintKind::process_end, vmm);
  EXPECT_EQ(looks_later(), 0U) << "the look has seen what waited";
}

TEST_F(Hearing, WhatHappenedToThreadsBeforeALookWasSeenByIt) {
  const Pid vmm = placed();
  const auto looked = clock_.now();
  unsigned reads = 0;
  proc_.on_read([&reads] {
    ++reads;
    return 0;
  });
  const auto reads_after = [&](Instant happened) {
    reads = 0;
    reconciler_->hint({HintKind::thread, "", vmm, "", happened});
    run();
    return reads;
  };
  EXPECT_EQ(reads_after(Instant(1)), 0U);
  EXPECT_GT(reads_after(looked), 0U);
  EXPECT_EQ(reads_after(looked), 0U) << "a glance has seen it";
  EXPECT_GT(reads_after(Instant::max()), 0U) << "nobody knows when it happened";
}

TEST_F(Hearing, WhatALookHasSeenWakesNobodyLater) {
  const auto wakes = [this] {
    unsigned count = 0;
    const auto until = clock_.now() + kRest + kRest;
    for (auto now = clock_.now(); now < until; now = clock_.now())
      if (::sd_event_run(loop_->get(), static_cast<std::uint64_t>((until - now).count())) > 0)
        ++count;
    return count;
  };
  const Pid vmm = placed();
  look_by(HintKind::process_end, vmm);
  (void)wakes();  // ignored: what the placing left
  look_by(HintKind::process_end, vmm);
  reconciler_->hint({HintKind::group, "x", 0});
  look_by(HintKind::process_end, vmm);
  EXPECT_EQ(wakes(), 0U);
  look_by(HintKind::process_end, vmm);
  reconciler_->hint({HintKind::group, "x", 0});
  EXPECT_GT(wakes(), 0U);
}

/// Who has asked for it waits for the look that finds nothing left; nobody else does: a glance
/// tells whether what was moved is where it was moved to.
TEST_F(Hearing, WhatWasWrittenIsGlancedAtLaterUnlessSomebodyWaits) {
  const auto hierarchy = tree_.host().hierarchies.front().name;
  const Pid vmm = placed();
  const auto home = tree_.group_of(vmm, hierarchy.str());
  take_away(vmm);
  look_by(HintKind::process_end, vmm);
  EXPECT_EQ(tree_.group_of(vmm, hierarchy.str()), home);
  EXPECT_EQ(looks_later(), 0U);
  take_away(vmm);
  look_by(HintKind::process_end, vmm);
  take_away(vmm);  // and nobody tells
  EXPECT_EQ(looks_later(), 1U);
  EXPECT_EQ(tree_.group_of(vmm, hierarchy.str()), home);
  follower_.looks = 0;
  take_away(vmm);
  reconciler_->api().reconcile("x", false, answer());
  run();
  EXPECT_EQ(answers_.size(), 1U);
  EXPECT_EQ(tree_.group_of(vmm, hierarchy.str()), home);
  EXPECT_EQ(looks_later(), 1U) << "only the one that was asked for";
}

/// A task that somebody takes away again and again is left alone, until somebody asks.
TEST_F(Hearing, WhatIsContestedIsTriedAgainWhenSomebodyAsks) {
  const auto hierarchy = tree_.host().hierarchies.front().name;
  const Pid vmm = placed();
  const auto home = tree_.group_of(vmm, hierarchy.str());
  const auto taken_away = [&] {
    take_away(vmm);
    reconciler_->hint({HintKind::process_end, "x", vmm});
    run();
    return tree_.group_of(vmm, hierarchy.str()) != home;
  };
  unsigned repaired = 0;
  while (repaired < 20 && !taken_away()) ++repaired;
  EXPECT_LT(repaired, 20U);
  reconciler_->api().reconcile("x", false, answer());
  run();
  EXPECT_EQ(tree_.group_of(vmm, hierarchy.str()), home);
  EXPECT_FALSE(taken_away()) << "it is counted anew";
}

/// Kata writes it some eight times in a sandbox's life.
TEST_F(Hearing, KatasWordOfWhichNothingComesIsNoReasonToLook) {
  const auto file = std::filesystem::path(directory()) / "vc" / "sbs" / "x" / "persist.json";
  std::filesystem::create_directories(file.parent_path());
  const auto says = [&](const char* text) {
    follower_.looks = 0;
    std::ofstream(file) << text;
    reconciler_->hint({HintKind::kata_state, "x", 0});
    return looks_later();
  };
  const Pid vmm = placed();
  EXPECT_EQ(says(R"({"State": "ready"})"), 0U);
  EXPECT_EQ(says(""), 0U) << "half-written";
  EXPECT_EQ(says(R"({"State": "paused"})"), 0U);
  EXPECT_EQ(says(R"({"HypervisorState": {"Type": "remote"}})"), 1U);
  EXPECT_EQ(says(R"({"State": "ready"})"), 1U) << "what was seen then says nothing";
  look_by(HintKind::process_end, vmm);
  EXPECT_EQ(says(R"({"State": "paused"})"), 0U);
  EXPECT_EQ(says(R"({"State": "running"})"), 1U) << "what runs without a pod has a container now";
  std::filesystem::remove(file);
  follower_.looks = 0;
  reconciler_->hint({HintKind::kata_state, "x", 0});
  EXPECT_EQ(looks_later(), 1U) << "it is over";
}

/// Kata writes it several times, and the looks that others ask for come between.
TEST_F(Hearing, WhatIsWrittenWhileASandboxRestsIsReadWhenTheRestIsOver) {
  const auto file = std::filesystem::path(directory()) / "vc" / "sbs" / "x" / "persist.json";
  std::filesystem::create_directories(file.parent_path());
  const auto says = [&](const char* text) { std::ofstream(file) << text; };
  says(R"({"State": "ready"})");
  const Pid vmm = placed();
  look_by(HintKind::process_end, vmm);
  says(R"({"HypervisorState": {"Type": "remote"}})");
  reconciler_->hint({HintKind::kata_state, "x", 0});
  says(R"({"State": "ready"})");
  EXPECT_EQ(looks_later(), 0U) << "as if it had never been otherwise";
  look_by(HintKind::process_end, vmm);
  says(R"({"HypervisorState": {"Type": "remote"}})");
  reconciler_->hint({HintKind::kata_state, "x", 0});
  EXPECT_EQ(looks_later(), 1U) << "and no later";
}

TEST_F(Hearing, WhatIsWrittenWhileASandboxRestsIsReadBeforeItIsLookedAt) {
  const auto file = std::filesystem::path(directory()) / "vc" / "sbs" / "x" / "persist.json";
  std::filesystem::create_directories(file.parent_path());
  const Pid vmm = placed();
  look_by(HintKind::process_end, vmm);
  std::ofstream(file) << R"({"HypervisorState": {"Type": "remote"}})";
  reconciler_->hint({HintKind::kata_state, "x", 0});
  look_by(HintKind::process_end, vmm);
  EXPECT_EQ(looks_later(), 0U) << "that look has seen it";
  std::filesystem::remove(file);
  reconciler_->hint({HintKind::kata_state, "x", 0});
  EXPECT_EQ(looks_later(), 1U);
}

TEST_F(Hearing, ABundleThatIsWrittenWhileItsSandboxRestsIsReadWhenTheRestIsOver) {
  const auto bundle = bundle_beside_the_daemon();
  const Pid shim = shim_executes(bundle);
  (void)looks_later();
  const auto tells_its_shim = [&] {
    look_by(HintKind::process_end, shim);
    std::ofstream(bundle + "/shim.pid") << shim;
    reconciler_->hint({HintKind::bundle, bundle, 0});
  };
  tells_its_shim();
  std::filesystem::remove(bundle + "/shim.pid");
  EXPECT_EQ(looks_later(), 0U) << "as if it had never been otherwise";
  tells_its_shim();
  EXPECT_EQ(looks_later(), 1U) << "and no later";
}

/// Its id comes back so soon that what ended still rests.
TEST_F(Hearing, AShimIsJudgedByTheBundleThatIsThereNow) {
  const auto bundle = bundle_beside_the_daemon();
  const Pid shim = shim_executes(bundle);
  (void)looks_later();
  proc_.exit_process(shim);
  reconciler_->hint({HintKind::process_end, "b", shim});
  run();
  std::filesystem::rename(bundle, directory() + "/before");  // so that its inode is not used again
  reconciler_->hint({HintKind::bundle, new_bundle(), 0});
  const Pid next = shim_executes(bundle);
  run();
  EXPECT_NE(tree_.group_of(next, "v2").find("kata-sandbox-b"), std::string::npos);
}

TEST_F(Hearing, WhatIsOverIsForgottenWithItsBundleAndNotLookedAtAgain) {
  const auto bundle = bundle_beside_the_daemon();
  const Pid shim = shim_executes(bundle);
  wait_for_a_look();
  ASSERT_GE(tree_.groups("v2").size(), 3U) << "its groups were made";
  proc_.exit_process(shim);
  reconciler_->hint({HintKind::process_end, "b", shim});
  run();
  (void)looks_later();  // ignored: they end it
  ASSERT_EQ(tree_.groups("v2").size(), 2U);
  EXPECT_EQ(heard().find("-b"), std::string::npos) << "its bundle is there";
  std::filesystem::remove_all(bundle);
  follower_.looks = 0;
  reconciler_->hint({HintKind::bundle, bundle, 0});
  EXPECT_EQ(looks_later(), 0U);
  EXPECT_NE(heard().find("-b"), std::string::npos);
}

}  // namespace
}  // namespace kcg::test
