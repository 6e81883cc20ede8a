// SPDX-License-Identifier: Apache-2.0
//
// Whatever happens to a VMM's threads: where a glance says that all is as it was, a whole look
// finds nothing to do.
#include <gtest/gtest.h>

#include <chrono>
#include <map>

#include "layout/layout.hpp"
#include "pass/glance.hpp"
#include "support/allowed.hpp"
#include "support/random_scenario.hpp"
#include "support/thread_events.hpp"

namespace kcg::test {
namespace {

constexpr std::uint64_t kCases = 300;

/// Also where those of whom something was told are all that it reads.
TEST(Glance, SeesWhateverALookWouldActUpon) {
  std::map<bool, unsigned> as_seen;  // by whether nothing is told
  for (std::uint64_t i = 0; i < case_count(kCases); ++i) {
    const auto seed = first_seed() + i;
    Random random(seed);
    SandboxWorld world(random_scenario(random));
    const bool deaf = random.chance(50);
    ThreadEvents events(random, world, deaf);
    SCOPED_TRACE(fmt::format("KCG_SEED={} {}, deaf: {}", seed, describe(world.scenario), deaf));
    world.boot();
    for (int passes = 0; passes < 5; ++passes) {
      (void)world.pass();  // ignored: what it leaves to do makes no glance
      world.end_jobs();
    }
    auto glance = glance_after(world.pass().result, world.clock);
    for (int count = 0; glance && count < 12; ++count) {
      events.happen();
      if (world.tree.threads_of(world.vmm).empty()) break;
      const auto seen = look_at_threads(
          {world.tree, world.proc, world.clock, world.manager, world.notes}, world.scenario.config,
          *glance, events.told(), events.hears(), world.record);
      if (seen.as_seen) {
        ++as_seen[deaf];
        EXPECT_TRUE(world.look().plan.steps.empty()) << describe(world.look().plan.steps.front());
      } else {
        glance = glance_after(world.pass().result, world.clock);
      }
    }
  }
  EXPECT_GT(as_seen[true], 0U);
  EXPECT_GT(as_seen[false], 0U);
}

/// Somebody takes one that was moved just now, and nobody hears of it.
void stray(Random& random, SandboxWorld& world, const std::vector<Step>& moves) {
  const auto top = CgroupPath::parse(world.expected_sandbox_group());
  if (!top || moves.empty()) return;
  const auto& step = random.one_of(moves);
  const Pid moved = move_of(step)->task.pid;
  const auto tids = world.tree.threads_of(moved);
  const bool whole = is<op::MoveProcess>(step) && !tids.empty();
  const auto tid = std::to_string(whole ? random.one_of(tids) : moved);
  const auto cls = kThreadClasses.at(random.upto(3));
  const GroupRef group{step.group.hierarchy, random.chance(50) ? class_path(*top, cls) : *top};
  world.tree.outside([&](CgroupTree& tree) {
    // ignored: a group that takes nobody moves nobody
    (void)tree.write(group, group.hierarchy == "v2" ? "cgroup.threads" : "tasks", tid);
  });
}

TEST(Glance, ConfirmsWhatALookWouldConfirm) {
  std::map<bool, unsigned> confirmed;  // by whether its groups were made, too
  for (std::uint64_t i = 0; i < case_count(kCases); ++i) {
    const auto seed = first_seed() + i;
    Random random(seed);
    SandboxWorld world(random_scenario(random));
    SCOPED_TRACE(fmt::format("KCG_SEED={} {}", seed, describe(world.scenario)));
    world.boot();
    const bool fresh = random.chance(50);  // the groups are made, too
    if (fresh && random.chance(80)) world.offer_controllers(world.pod_group);
    for (int passes = 0; !fresh && passes < 3; ++passes) {
      (void)world.pass();  // ignored: groups are made, and what is moved now is to be confirmed
      world.end_jobs();
    }
    if (!fresh) world.all_taken_back();
    world.confirm_after = std::chrono::milliseconds(20);
    auto glance = glance_after(world.pass().result, world.clock);
    if (!glance || !glance->confirm_at) continue;
    ThreadEvents threads(random, world, true);
    for (auto events = random.upto(3); events > 0; --events)
      random.chance(50) ? stray(random, world, glance->moves) : threads.happen();
    if (world.tree.threads_of(world.vmm).empty()) continue;
    world.clock.advance(*world.confirm_after);
    const auto seen = look_at_threads(
        {world.tree, world.proc, world.clock, world.manager, world.notes}, world.scenario.config,
        *glance, threads.told(), threads.hears(), world.record);
    if (!seen.as_seen) continue;
    ++confirmed[fresh];
    EXPECT_TRUE(world.look().plan.steps.empty()) << describe(world.look().plan.steps.front());
  }
  EXPECT_GT(confirmed[false], 0U);
  EXPECT_GT(confirmed[true], 0U);
}

}  // namespace
}  // namespace kcg::test
