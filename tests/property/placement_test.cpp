// SPDX-License-Identifier: Apache-2.0
//
// Random sandboxes on random nodes, with the daemon's line run over them: everything ends up where
// it belongs, nothing else is touched, and then nothing is left to do.
#include <gtest/gtest.h>

#include <chrono>

#include "base/text.hpp"
#include "kernel/cpuset.hpp"
#include "plan/diff.hpp"
#include "plan/warm.hpp"
#include "support/allowed.hpp"
#include "support/random_scenario.hpp"

namespace kcg::test {
namespace {

constexpr std::uint64_t kCases = 400;

/// The world with a judge over every round.
class Watched final {
 public:
  explicit Watched(const Scenario& scenario) : world(scenario) {}

  /// One pass and what must hold in each of its rounds. Before every other one a pass that leaves
  /// it for later to see whether anything is left: where it did all that it planned, nothing is.
  Pass pass() {
    if (++passes_ % 2 == 0) {
      world.confirm_after = std::chrono::milliseconds(20);
      const auto before = judged(world.pass());
      world.confirm_after.reset();
      const auto& last = before.last();
      const bool done = last.report.done() == last.plan.steps.size();
      if (done && !more_follows(last.observed, last.want)) {
        EXPECT_EQ(describe(world.look().plan), "") << "behind " << describe(last.plan);
      }
    }
    return judged(world.pass());
  }
  /// Passes as the follow-up asks for them, systemd's jobs ending in between.
  Pass settle() {
    failures_.clear();
    auto last = pass();
    for (int i = 0; i < 5 && world.record.scope->pending; ++i) {
      world.end_jobs();
      last = pass();
    }
    return last;
  }
  [[nodiscard]] std::string failures() const {
    std::string text;
    for (const auto& one : failures_) text += one + "\n";
    return text;
  }

  SandboxWorld world;

 private:
  Pass judged(Pass pass) {
    for (const auto& round : pass.rounds) {
      EXPECT_EQ(forbidden_text(world.scenario.config, round.observed, round.plan), "");
      for (const auto& result : round.report.results)
        if (result.outcome == Outcome::failed)
          failures_.push_back(describe(result.step) + ": " + result.text);
    }
    return pass;
  }

  std::vector<std::string> failures_;
  unsigned passes_ = 0;
};

/// What is in a group's file, compared as the kernel would.
bool holds(const GroupState& group, const WantedFile& file) {
  const auto now = group.file(file.key).value_or("");
  if (!file.key.starts_with("cpuset.")) return now == file.value;
  return CpuSet::parse(now) == CpuSet::parse(file.value);
}

/// Everything wanted is there: "" or what is not.
std::string unfulfilled(const Observed& observed, const Desired& want) {
  std::string text;
  for (const auto& group : want.groups) {
    const auto* now = observed.group(group.ref);
    const auto where = fmt::format("{}:{}", group.ref.hierarchy.str(), group.ref.path.str());
    if (now == nullptr) {
      text += where + " does not exist\n";
      continue;
    }
    const bool untouched = group.shared || (group.katas && !now->mark);
    if (untouched) continue;
    if (now->mark != observed.inputs.id.str()) text += where + " is not marked\n";
    for (const auto& list : {group.seeds, group.limits})
      for (const auto& file : list)
        if (!holds(*now, file))
          text += fmt::format("{} {} is '{}', not '{}'\n", where, file.key,
                              now->file(file.key).value_or(""), file.value);
  }
  for (const auto& process : want.processes)
    for (const auto& thread : process.threads)
      for (const auto& seen : observed.processes)
        for (const auto& found : seen.threads)
          for (std::size_t i = 0; found.facts.key == thread.key && i < thread.paths.size(); ++i)
            if (thread.paths[i] && thread.paths[i]->str() != found.facts.groups[i])
              text += fmt::format("{} is in {}\n", thread.key.pid, found.facts.groups[i]);
  return text;
}

void expect_settled(Watched& watched, const Pass& pass) {
  auto& world = watched.world;
  EXPECT_EQ(world.misplaced(), "");
  EXPECT_EQ(describe(pass.last().plan), "") << watched.failures();
  EXPECT_LE(pass.rounds.size(), 5U);
  EXPECT_EQ(watched.failures(), "");
  auto round = world.look();
  EXPECT_EQ(describe(round.plan), "");
  round.observed.vmm_age_ms = 20;
  EXPECT_EQ(unfulfilled(round.observed, round.want), "");
  const auto warm = warm_up(round.observed, round.want);
  EXPECT_EQ(forbidden_text(world.scenario.config, round.observed, warm), "");
  for (const auto& step : warm.steps) EXPECT_EQ(text_of(step).old_value, text_of(step).new_value);
  EXPECT_EQ(
      world.record.state == SandboxState::placed || world.record.state == SandboxState::degraded,
      true)
      << name(world.record.state) << " " << round.want.waiting_for;
}

template <class Body>
void for_each_case(Body body) {
  for (std::uint64_t k = 0; k < case_count(kCases); ++k) {
    Random random(first_seed() + k);
    const auto scenario = random_scenario(random);
    SCOPED_TRACE(fmt::format("KCG_SEED={} KCG_CASES=1\n{}", first_seed() + k, describe(scenario)));
    body(random, scenario);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Placement, OfAVmmFoundRunning) {
  for_each_case([](Random&, const Scenario& scenario) {
    Watched watched(scenario);
    watched.world.boot();
    expect_settled(watched, watched.settle());
  });
}

TEST(Placement, EventByEvent) {
  for_each_case([](Random& random, const Scenario& scenario) {
    Watched watched(scenario);
    auto& world = watched.world;
    const auto maybe_pass = [&] {
      if (random.chance(60)) (void)watched.pass();
      if (random.chance(40)) world.end_jobs();
      if (random.chance(10)) world.restart_daemon();
    };
    world.start_strangers();
    world.start_shim();
    maybe_pass();
    world.kata_makes_groups();
    maybe_pass();
    world.start_vmm();
    maybe_pass();
    if (scenario.virtiofsd) world.start_virtiofsd();
    maybe_pass();
    world.start_threads();
    maybe_pass();
    world.kata_pulls_back();
    maybe_pass();
    if (random.chance(50)) (void)world.plug_vcpu();
    expect_settled(watched, watched.settle());
  });
}

/// Largest memory max of our top group so far; it may only be lifted or raised.
class MemoryWatch final {
 public:
  void look(SandboxWorld& world) {
    const auto path = CgroupPath::parse(world.expected_sandbox_group()).value();
    for (const auto& h : world.tree.host().hierarchies) {
      if (!h.has("memory")) continue;
      const auto text =
          world.tree.read({h.name, path}, h.unified ? "memory.max" : "memory.limit_in_bytes");
      const auto now = text ? parse_u64(*text) : std::nullopt;
      if (now && largest_ && *now < *largest_) ADD_FAILURE() << *largest_ << " became " << *now;
      if (now) largest_ = now;
    }
  }

 private:
  std::optional<std::uint64_t> largest_;
};

void change_something(SandboxWorld& world, Random& random) {
  auto& containers = world.assembled.inputs.containers;
  switch (random.below(7)) {
    case 0:
      if (!containers.empty()) containers.pop_back();
      return;
    case 1:
      if (!containers.empty()) {
        containers.push_back(containers.back());
        containers.back().id += "x";
      }
      return;
    case 2:
      for (auto& container : containers) {
        container.resources.memory_limit = static_cast<std::int64_t>(random.below(1ULL << 32));
        container.resources.cpu_quota = static_cast<std::int64_t>(random.below(400'000)) - 1;
        container.resources.cpu_shares = random.below(4096);
      }
      return;
    case 3: {
      // The kubelet's exclusive CPUs arrive in Kata's own group.
      const auto cpus = random.one_of<std::string>({"0-3", "0-1", "2-3", "1", "0,2"});
      world.tree.outside([&](CgroupTree& tree) {
        for (const auto& h : tree.host().hierarchies)  // ignored: in use by a child of ours
          (void)tree.write({h.name, CgroupPath::parse(world.kata_group).value()}, "cpuset.cpus",
                           cpus);
      });
      return;
    }
    case 4:
      return world.kata_pulls_back();
    case 5:
      (void)world.plug_vcpu();
      return;
    default:
      world.scenario.config.sizing.vcpu_quota = random.chance(50);
      return;
  }
}

TEST(Placement, WhateverChanges) {
  for_each_case([](Random& random, const Scenario& scenario) {
    Watched watched(scenario);
    auto& world = watched.world;
    world.boot();
    expect_settled(watched, watched.settle());
    MemoryWatch memory;
    memory.look(world);
    for (int i = 0; i < 8 && !::testing::Test::HasFailure(); ++i) {
      change_something(world, random);
      if (random.chance(15)) world.restart_daemon();
      world.clock.advance(std::chrono::minutes(20));  // what follows is no contest
      expect_settled(watched, watched.settle());
      memory.look(world);
    }
  });
}

TEST(Placement, NothingIsLeft) {
  for_each_case([](Random& random, const Scenario& scenario) {
    Watched watched(scenario);
    auto& world = watched.world;
    world.boot();
    (void)watched.settle();
    if (random.chance(30)) world.restart_daemon();
    if (random.chance(50)) world.end_vmm();
    if (random.chance(50)) (void)watched.pass();
    world.end_all();
    world.systemd.collect_empty_scopes();
    if (random.chance(50)) (void)watched.pass();
    world.kata_cleans_up();
    // With the bundle goes the path: what is left is found by its mark, as at a start.
    (void)watched.settle();
    world.systemd.collect_empty_scopes();
    world.clock.advance(std::chrono::seconds(5));  // what stands in scopes was systemd's to remove
    (void)watched.settle();
    EXPECT_EQ(world.marked_groups(), std::vector<std::string>{});
    EXPECT_TRUE(watched.settle().follow_up.forget);
  });
}

}  // namespace
}  // namespace kcg::test
