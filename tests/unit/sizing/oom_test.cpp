// SPDX-License-Identifier: Apache-2.0
#include "sizing/oom.hpp"

#include <gtest/gtest.h>

#include "oci/cgroups_path.hpp"
#include "plan/desired.hpp"
#include "support/fake_tree.hpp"

namespace kcg::test {
namespace {

constexpr const char* kPod = "/kubepods/pod1";
constexpr const char* kOurs = "/kubepods/pod1/kata-sandbox-S";

/// A pod with one container of 512 MiB and an overhead of 64 MiB.
struct Case {
  explicit Case(bool unified) {
    observed.host = unified ? fake_host_v2() : fake_host_v1();
    observed.inputs.id = SandboxId::parse("S").value();
    Bundle sandbox;
    sandbox.id = sandbox.sandbox_id = "S";
    sandbox.type = BundleType::sandbox;
    sandbox.cgroups_path = "/kubepods/pod1/S";
    sandbox.overhead_annotation = "64";
    observed.inputs.bundle = sandbox;
    observed.cgroups_path = cgroups_path_of(observed.inputs);
    Bundle container;
    container.id = "C";
    container.type = BundleType::container;
    container.resources.memory_limit = std::int64_t{512} << 20;
    observed.inputs.containers = {container};
    group(kOurs).mark = "S";
  }
  GroupState& group(const char* path) {
    const GroupRef ref{observed.host.unified() ? "v2" : "memory", CgroupPath::parse(path).value()};
    auto& state = observed.groups[ref];
    state.ref = ref;
    return state;
  }
  std::string text() {
    const auto found = oom_condition(Config{}, observed, history);
    return found ? found->text : "";
  }
  void kills(const char* path, unsigned count) {
    auto& files = group(path).files;
    if (observed.host.unified())
      files["memory.events"] = fmt::format("low 0\noom 7\noom_kill {}\noom_group_kill 0", count);
    else
      files["memory.oom_control"] = fmt::format("under_oom 0\noom_kill {}", count);
  }

  Observed observed;
  OomHistory history;
};

TEST(OomKilled, NobodyWasKilled) {
  for (const bool unified : {true, false}) {
    Case one(unified);
    EXPECT_EQ(one.text(), "");
    one.kills(kOurs, 0);
    EXPECT_EQ(one.text(), "") << "`oom` alone is no kill";
  }
}

TEST(OomKilled, AtTheSandboxsOwnLimitOnV2) {
  Case one(true);
  one.kills(kOurs, 2);
  one.kills(kPod, 2);
  one.group(kOurs).files.insert(
      {{"memory.max", "603979776"}, {"memory.current", "4096"}, {"memory.peak", "603979776"}});
  one.group(kPod).files.insert({{"memory.max", "900000000"}, {"memory.current", "603990000"}});
  EXPECT_EQ(
      one.text(),
      "the kernel killed 2 processes in /kubepods/pod1/kata-sandbox-S for lack of memory: "
      "/kubepods/pod1/kata-sandbox-S, the sandbox's own group, allows 576 MiB; usage 4096 "
      "bytes, peak 576 MiB; its budget is B + S + O = 2048 MiB + (512 MiB) + 64 MiB = 2624 MiB");
}

TEST(OomKilled, AtThePodsLimitOnV1) {
  Case one(false);
  one.kills(kOurs, 1);
  one.group(kOurs).files.insert({{"memory.limit_in_bytes", "9223372036854771712"},
                                 {"memory.usage_in_bytes", "4096"},
                                 {"memory.max_usage_in_bytes", "536866816"}});
  one.group(kPod).files.insert({{"memory.limit_in_bytes", "536870912"},
                                {"memory.usage_in_bytes", "8192"},
                                {"memory.max_usage_in_bytes", "536870912"}});
  EXPECT_EQ(one.text(),
            "the kernel killed 1 process in /kubepods/pod1/kata-sandbox-S for lack of memory: "
            "/kubepods/pod1, above the sandbox, allows 512 MiB; usage 8192 bytes, peak 512 MiB; "
            "its budget is B + S + O = 2048 MiB + (512 MiB) + 64 MiB = 2624 MiB");
}

TEST(OomKilled, WithoutAnyLimitTheNodeRanOut) {
  Case one(true);
  one.kills(kOurs, 1);
  one.observed.inputs.containers.clear();
  EXPECT_EQ(one.text(),
            "the kernel killed 1 process in /kubepods/pod1/kata-sandbox-S for lack of memory: no "
            "group has a limit, so the node itself ran out; usage not known, peak not known; its "
            "budget has no bound: unlimited: no container and no memory total is known");
}

TEST(OomKilled, TheTextStaysUntilSomebodyElseIsKilled) {
  Case one(true);
  one.kills(kOurs, 1);
  one.group(kOurs).files["memory.current"] = "1";
  const auto first = one.text();
  one.group(kOurs).files["memory.current"] = "2";
  EXPECT_EQ(one.text(), first);
  one.kills(kOurs, 2);
  EXPECT_NE(one.text(), first);
  one.observed.groups.clear();
  EXPECT_NE(one.text(), "") << "its group is gone, the fact is not";
}

TEST(OomKilled, ThePodCountsOnlySinceThisVmWasSeen) {
  Case one(true);
  one.kills(kPod, 5);  // an earlier sandbox of the pod
  EXPECT_EQ(one.text(), "");
  one.kills(kPod, 6);
  EXPECT_NE(one.text().find("killed 1 process in /kubepods/pod1 for"), std::string::npos)
      << one.text();
}

TEST(OomKilled, AfterARestartWhatWasKilledInOurGroupIsKnown) {
  Case one(true);
  one.kills(kOurs, 1);
  one.kills(kPod, 4);
  EXPECT_NE(one.text(), "");
  EXPECT_EQ(one.history.pod_before, 3U);
}

TEST(OomKilled, WhatIsAboveAPodLessSandboxIsEverybodys) {
  Case one(true);
  one.observed.inputs.bundle->type = BundleType::single;
  one.kills(kPod, 0);
  EXPECT_EQ(one.text(), "");
  one.kills(kPod, 3);
  EXPECT_EQ(one.text(), "");
}

TEST(OomKilled, WhatCannotBeReadCountsNothing) {
  Case one(true);
  (void)one.group(kPod);  // its memory.events could not be read
  EXPECT_EQ(one.text(), "");
  one.kills(kPod, 5);
  EXPECT_EQ(one.text(), "") << "they may all be older than this VM";
  one.kills(kOurs, 1);
  one.kills(kPod, 6);
  EXPECT_NE(one.text().find("killed 1 process "), std::string::npos) << one.text();
  one.group(kOurs).files.clear();
  const auto before = one.text();
  one.kills(kOurs, 1);
  EXPECT_EQ(one.text(), before) << "nobody else was killed";
}

TEST(OomKilled, AnotherVmUnderTheSameIdHasItsOwnCount) {
  Case one(true);
  one.kills(kOurs, 2);
  one.kills(kPod, 3);
  EXPECT_NE(one.text(), "");
  History history;
  history.oom = one.history;
  one.history = next_life(history).oom;
  EXPECT_EQ(one.text(), "") << "the group is still the old one";
  one.kills(kOurs, 3);
  one.kills(kPod, 4);
  EXPECT_NE(one.text().find("killed 1 process "), std::string::npos) << one.text();
  one.history = next_life(history).oom;
  one.kills(kOurs, 0);
  one.kills(kPod, 4);
  EXPECT_EQ(one.text(), "") << "the group was made anew";
  one.kills(kOurs, 1);
  one.kills(kPod, 5);
  EXPECT_NE(one.text().find("killed 1 process "), std::string::npos) << one.text();
}

/// On v1 nothing above it counts, too.
TEST(OomKilled, AGroupThatWasMadeAnewCountsFromTheBeginning) {
  Case one(false);
  one.kills(kOurs, 2);
  EXPECT_NE(one.text(), "");
  History history;
  history.oom = one.history;
  one.history = next_life(history).oom;
  one.kills(kOurs, 0);
  EXPECT_EQ(one.text(), "");
  one.kills(kOurs, 1);
  EXPECT_NE(one.text().find("killed 1 process "), std::string::npos) << one.text();
}

TEST(OomKilled, AnEndedSandboxKeepsItsText) {
  Case one(true);
  one.kills(kOurs, 1);
  one.group(kOurs).files["memory.current"] = "4096";
  one.observed.gone = true;
  const auto first = desired(Config{}, one.observed);
  one.observed.history = first.history;
  one.group(kOurs).files["memory.current"] = "0";
  EXPECT_EQ(desired(Config{}, one.observed).conditions, first.conditions) << "it is no news";
}

TEST(OomKilled, IsSaidAlsoWhenTheSandboxEndedByIt) {
  Case one(true);
  one.kills(kOurs, 1);
  one.observed.gone = true;
  const auto want = desired(Config{}, one.observed);
  ASSERT_EQ(want.conditions.size(), 1U);
  EXPECT_EQ(want.conditions.front().condition, ConditionName::oom_killed);
}

}  // namespace
}  // namespace kcg::test
