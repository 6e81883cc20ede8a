// SPDX-License-Identifier: Apache-2.0
//
// Kata goes on working in its own groups: it pulls threads back, removes and makes its groups, and
// passes the kubelet's CPUs on. The daemon puts things right each time, and follows.
#include <sched.h>

#include <cerrno>

#include "support/live/fixture.hpp"
#include "support/live/kernel.hpp"
#include "support/live/must.hpp"
#include "support/live/wait.hpp"

namespace kcg::live {
namespace {

class LiveForeign : public LiveTest {
 protected:
  void SetUp() override {
    LiveTest::SetUp();
    if (!IsSkipped()) start_daemon({.config = "[layout]\nsandbox_cgroup_only = true\n"});
  }
  /// v1 only: a group's cpuset.cpus.
  [[nodiscard]] std::string cpus(const std::string& group) const {
    return slurp_line(node_->corner().directory(group, "cpuset") + "/cpuset.cpus");
  }
};

TEST_P(LiveForeign, PulledBackVcpusReturn) {
  const auto sandbox = placed({.vcpus = 4});
  for (int update = 0; update < 3; ++update) {
    sandbox->ask("pullback-vcpus");
    EXPECT_EQ(settle(*sandbox), "") << "update " << update;
  }
}

TEST_P(LiveForeign, PulledBackVmmReturns) {
  const auto sandbox = placed({.names = true, .vcpus = 2});
  for (int update = 0; update < 3; ++update) {
    sandbox->ask("pullback-vmm");
    EXPECT_EQ(settle(*sandbox), "") << "update " << update;
  }
}

TEST_P(LiveForeign, ShimThatMovesItselfAgainReturns) {
  const auto sandbox = placed();
  sandbox->ask("move-self");
  EXPECT_EQ(settle(*sandbox), "");
}

TEST_P(LiveForeign, PullBackDuringHotplug) {
  const auto sandbox = placed({.standin = {{"MAX_VCPUS", "3"}}});
  for (int plugged = 0; plugged < 2; ++plugged) {
    sandbox->ask("hotplug");
    sandbox->ask("pullback-vcpus");
    EXPECT_EQ(settle(*sandbox), "");
  }
}

TEST_P(LiveForeign, ShimWithItsOwnOverheadGroup) {
  const auto sandbox = placed({.vcpus = 2, .standin = {{"CGROUP_ONLY", "0"}}});
  sandbox->ask("pullback-vcpus");
  EXPECT_EQ(settle(*sandbox), "");
  sandbox->end();
  EXPECT_EQ(gone(*sandbox), "");
}

TEST_P(LiveForeign, WhoMovesAThreadAgainAndAgainWinsForAWhile) {
  constexpr int kHeals = 6;  // five are forgiven, at the sixth it is called contested
  const auto sandbox = placed({.vcpus = 2});
  const auto truth = sandbox->truth();
  const int vcpu = *truth.vcpus.begin();
  const std::string controller = v1() ? "cpu" : "";
  const auto tasks = node_->corner().directory(sandbox->group() + "/vmm", controller) +
                     (v1() ? "/tasks" : "/cgroup.threads");
  const auto is_in = [&](int tid, const char* cls) {
    return groups_of(tid)[controller] == sandbox->group() + cls;
  };
  const auto fight = [&] {
    ASSERT_EQ(scribble(tasks, std::to_string(vcpu)), 0);
    sandbox->ask("move-self");  // what the daemon hears of; it puts both right in one pass
    ASSERT_TRUE(wait_until([&] { return is_in(truth.shim, "/shim"); }));
  };
  const auto contested = [&] {
    return daemon_->standing_complaints().find("Contested") != std::string::npos;
  };
  for (int heal = 0; heal < kHeals; ++heal) {
    EXPECT_FALSE(contested()) << "heal " << heal;
    ASSERT_NO_FATAL_FAILURE(fight());
    ASSERT_TRUE(wait_until([&] { return is_in(vcpu, "/vcpu"); })) << "heal " << heal;
  }
  EXPECT_TRUE(wait_until(contested));
  ASSERT_NO_FATAL_FAILURE(fight());
  EXPECT_TRUE(is_in(vcpu, "/vmm")) << "the other writer was not let alone";
  for (const int other : truth.vcpus) EXPECT_TRUE(other == vcpu || is_in(other, "/vcpu"));
}

/// On v1 the VM stays in Kata's cpuset group, which cannot go before it.
class LiveForeignV2 : public LiveForeign {};

TEST_P(LiveForeignV2, KatasGroupGoesAndComesBesideOurs) {
  const auto sandbox = placed();
  sandbox->ask("remove-groups");
  EXPECT_FALSE(exists(node_->corner().directory(sandbox->kata_group()))) << "we were in its way";
  EXPECT_EQ(settle(*sandbox), "");
  sandbox->ask("make-groups");
  sandbox->ask("pullback-vmm");
  EXPECT_EQ(settle(*sandbox), "") << "the new group must be watched, too";
  sandbox->end();
  EXPECT_EQ(gone(*sandbox), "");
}

/// 0 or an errno.
int pin(int tid, unsigned cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (::sched_setaffinity(tid, sizeof set, &set) == 0) return 0;
  return errno;
}

/// The cgroup2 tree beside v1 has no cpuset controller; the end-to-end tests have one.
class LiveForeignV1 : public LiveForeign {};

/// What Kata does with enable_vcpus_pinning; if it fails there, the container does.
TEST_P(LiveForeignV1, VcpusArePinnedRightBehindKatasCpuset) {
  const auto sandbox = placed({.vcpus = 2, .standin = {{"MAX_VCPUS", "4"}}});
  const auto all = cpus(sandbox->pod_group());
  ASSERT_NE(all, "0") << "needs two CPUs";
  const auto katas = node_->corner().directory(sandbox->kata_group(), "cpuset") + "/cpuset.cpus";
  const auto ours = node_->corner().directory(sandbox->group(), "cpuset");
  for (const bool running : {true, false}) {
    if (!running) {
      EXPECT_EQ(daemon_->terminate(), 0);
    }
    auto vcpus = sandbox->truth().vcpus;
    for (int i = 0; i < 100; ++i) {
      ASSERT_EQ(scribble(katas, "0"), 0) << "Kata's own write";
      if (running && exists(ours)) {
        EXPECT_TRUE(wait_until([&] { return cpus(sandbox->group()) == "0"; }));
      }
      if (i == 50) {
        sandbox->ask("hotplug");
        vcpus = sandbox->truth().vcpus;
      }
      ASSERT_EQ(scribble(katas, all), 0) << "Kata's own write";
      for (const int tid : vcpus) ASSERT_EQ(pin(tid, 1), 0) << "round " << i << ", " << tid;
    }
    EXPECT_EQ(cpus(sandbox->kata_group()), all);
  }
  EXPECT_FALSE(exists(ours)) << "the tree is Kata's";
}

KCG_ON_BOTH_TREES(LiveForeign);
KCG_ON_TREE(LiveForeignV1, v1);
KCG_ON_TREE(LiveForeignV2, v2);

}  // namespace
}  // namespace kcg::live
