// SPDX-License-Identifier: Apache-2.0
#include "pass/populated.hpp"

#include <gtest/gtest.h>

#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

bool holds(const std::set<GroupRef>& groups, const std::string& path) {
  return groups.contains({"v2", CgroupPath::parse(path).value()});
}

/// That we ourselves have taken somebody there is no news, and heard some milliseconds later.
TEST(Populated, IsWhereSomebodyWasSeenOrTakenTo) {
  SandboxWorld world(Scenario{});
  world.boot();
  auto round = world.pass().rounds.front();
  EXPECT_TRUE(holds(populated(round), world.expected_sandbox_group()));
  EXPECT_TRUE(holds(populated(round), world.kata_group)) << "where they were before";
  EXPECT_TRUE(holds(populated(round), world.pod_group)) << "above";
  for (auto& result : round.report.results) result.outcome = Outcome::failed;
  EXPECT_FALSE(holds(populated(round), world.expected_sandbox_group()));
}

TEST(Populated, IsToldByV2Alone) {
  Scenario v1;
  v1.mode = HierarchyMode::v1;
  SandboxWorld world(v1);
  world.boot();
  EXPECT_TRUE(populated(world.pass().rounds.front()).empty());
}

}  // namespace
}  // namespace kcg::test
