// SPDX-License-Identifier: Apache-2.0
//
// How often an ordinary sandbox is looked at in its life, and how often one whose VMM never rests:
// counted, since a look is what a sandbox costs.
#include <signal.h>

#include <chrono>
#include <memory>

#include "support/live/fixture.hpp"
#include "support/live/kernel.hpp"
#include "support/live/wait.hpp"

namespace kcg::live {
namespace {

/// Each step of a shim's and a VMM's start and end, and a look that finds nothing left after each.
/// Two to four on an idle machine; where all takes longer, less is looked at together.
constexpr unsigned kMostLooks = 7;
/// At threads that are born while a look is taken, and at whether the moves hold: two to five, and
/// the more the sooner the look at the VMM's exec is over. Those that nothing but time asks for
/// would be nine more.
constexpr unsigned kMostGlances = 8;

class LiveCost : public LiveTest {
 protected:
  void begin() { start_daemon({.arguments = {"--log-level", "debug"}}); }
  [[nodiscard]] std::unique_ptr<Sandbox> start(std::map<std::string, std::string> standin,
                                               bool names = true) const {
    standin.emplace("KVM", "1");
    auto sandbox =
        node_->sandbox({.names = names, .light = true, .vcpus = 2, .standin = std::move(standin)});
    sandbox->start();
    EXPECT_EQ(settle(*sandbox), "");
    return sandbox;
  }
};

TEST_P(LiveCost, ALifeIsLookedAtSoManyTimes) {
  begin();
  const auto sandbox = start({});
  let_it_run();
  sandbox->end();
  EXPECT_EQ(gone(*sandbox), "");
  const auto looks = daemon_->looks(sandbox->id());
  const auto glances = daemon_->glances(sandbox->id());
  std::printf("%u looks, %u glances\n", looks, glances);
  EXPECT_GT(looks, 0U);
  EXPECT_LE(looks, kMostLooks);
  EXPECT_LE(glances, kMostGlances);
}

/// Where the two follow each other soon enough, as they do on a machine that is not busy. The exec
/// of a VMM is heard although nobody has looked at its shim.
TEST_P(LiveCost, AShimIsLookedAtWithItsVmm) {
  begin();
  std::string why;
  for (int life = 0; life < 20 && why != "placement"; ++life) {
    const auto sandbox = start({});
    why = daemon_->first_looked_for(sandbox->id());
    sandbox->end();
    EXPECT_EQ(gone(*sandbox), "");
  }
  EXPECT_EQ(why, "placement");
}

/// QEMU's workers come and go as its guest reads and writes. As long as KVM tells of each vCPU, one
/// that nothing names is glanced at once, and not again until it might have told who it is.
TEST_P(LiveCost, AWorkerWithoutANameIsGlancedAtOnce) {
  KCG_NEEDS_KVM();
  begin();
  const auto sandbox = start({{"WORKERS", "1"}}, false);
  let_it_run();
  const auto glances = [&] { return daemon_->glances(sandbox->id()); };
  const auto before = glances();
  ASSERT_EQ(::kill(sandbox->truth().vmm, SIGWINCH), 0);
  EXPECT_TRUE(wait_until([&] { return glances() > before; }));
  let_it_run();
  EXPECT_LE(glances(), before + 2);
  EXPECT_EQ(misplaced(*sandbox, sandbox->truth()), "");
}

/// Once it has its place, a thread that renames itself all the time is no reason for a look.
TEST_P(LiveCost, NamesThatMeanNothingCauseNoLooks) {
  begin();
  const auto sandbox = start({{"NOISE_US", "1000"}});
  let_it_run();
  const auto before = daemon_->looks(sandbox->id());
  let_it_run();
  EXPECT_EQ(daemon_->looks(sandbox->id()), before);
  EXPECT_EQ(misplaced(*sandbox, sandbox->truth()), "");
}

KCG_ON_BOTH_TREES(LiveCost);

/// On v1, which has the controller.
class LiveCostOfLimits : public LiveCost {};

TEST_P(LiveCostOfLimits, WhatIsPutBackIsNoNews) {
  begin();
  const auto sandbox = start({});
  ASSERT_TRUE(daemon_rests());
  const auto before = daemon_->looks(sandbox->id());
  const auto shares = node_->corner().directory(sandbox->group() + "/vcpu") + "/cpu.shares";
  ASSERT_EQ(scribble(shares, "2"), 0);
  EXPECT_TRUE(wait_until([&] { return slurp_line(shares) == "2048"; })) << slurp_line(shares);
  ASSERT_TRUE(daemon_rests());
  EXPECT_EQ(daemon_->looks(sandbox->id()), before + 1);
}

KCG_ON_TREE(LiveCostOfLimits, v1);

}  // namespace
}  // namespace kcg::live
