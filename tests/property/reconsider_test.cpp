// SPDX-License-Identifier: Apache-2.0
//
// Whatever Kata says of a sandbox, and whatever its VMM does meanwhile: where nothing is thought to
// come of Kata's word, a whole look does what it would have done without it.
#include <gtest/gtest.h>

#include <chrono>

#include "pass/reconsider.hpp"
#include "support/allowed.hpp"
#include "support/random_scenario.hpp"

namespace kcg::test {
namespace {

constexpr std::uint64_t kCases = 300;

KataState spoken(Random& random, const SandboxWorld& world, KataState kata) {
  const auto& containers = world.assembled.inputs.containers;
  for (auto words = 1 + random.upto(2); words > 0; --words) switch (random.upto(8)) {
      case 0:
        kata.state = random.chance(50) ? "ready" : "stopped";
        break;
      case 1:
        kata.file = "/run/vc/sbs/x/persist.json";
        break;
      case 2:
        kata.hotplugged_memory_mib = random.upto(4096);
        break;
      case 3:
        kata.boot_memory_mib = random.upto(4096);
        break;
      case 4:
        kata.vcpus_pinning = random.chance(50);
        break;
      case 5:
        kata.sandbox_cgroup_only = random.chance(50);
        break;
      case 6:
        kata.hypervisor = random.chance(50) ? "clh" : "remote";
        break;
      case 7:
        if (!containers.empty()) kata.stopped.insert(random.one_of(containers).id);
        break;
      default:
        kata.containers["c1"].memory_limit = random.upto(1 << 30);
    }
  return kata;
}

/// One thing that a guest may do, or Kata, which no word of Kata's tells of.
void happen(Random& random, SandboxWorld& world) {
  switch (random.upto(3)) {
    case 0:
      (void)world.proc.add_thread(world.vmm, random.chance(50) ? "IO more" : "worker");
      return;
    case 1:
      (void)world.plug_vcpu(random.chance(50));
      return;
    case 2:
      world.kata_pulls_back();
      return;
    default:
      world.clock.advance(std::chrono::milliseconds(random.upto(700)));
  }
}

TEST(Reconsider, FindsNothingToDoWhereALookWouldNot) {
  unsigned nothing = 0, something = 0;
  for (std::uint64_t i = 0; i < case_count(kCases); ++i) {
    const auto seed = first_seed() + i;
    Random random(seed);
    SandboxWorld world(random_scenario(random));
    SCOPED_TRACE(fmt::format("KCG_SEED={} {}", seed, describe(world.scenario)));
    const auto first_word = world.assembled.inputs.kata;
    if (random.chance(50)) world.assembled.inputs.kata.reset();  // it has not said anything yet
    world.boot();
    for (auto passes = 1 + random.upto(3); passes > 0; --passes) {
      (void)world.pass();  // ignored: what it leaves to do is found by the look below
      world.end_jobs();
    }
    auto last = last_look(world.pass().last(), world.record, world.assembled.conditions);
    for (int words = 0; words < 6; ++words) {
      if (random.chance(50)) happen(random, world);
      const auto before = world.assembled.inputs.kata;
      const auto without = world.look();
      world.assembled.inputs.kata = spoken(random, world, before.value_or(*first_word));
      if (still_wanted(world.scenario.config, world.assembled, *last, world.record)) {
        ++nothing;
        const auto with = world.look();
        EXPECT_EQ(with.plan, without.plan);
        EXPECT_EQ(with.want.conditions, without.want.conditions);
        EXPECT_EQ(with.want.history, without.want.history);
      } else {
        ++something;
        last = last_look(world.pass().last(), world.record, world.assembled.conditions);
      }
    }
  }
  EXPECT_GT(nothing, 0U);
  EXPECT_GT(something, 0U);
}

}  // namespace
}  // namespace kcg::test
