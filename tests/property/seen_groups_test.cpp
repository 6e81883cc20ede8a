// SPDX-License-Identifier: Apache-2.0
//
// Whatever happens to a sandbox's threads and groups, told or lost: looks that take the groups as
// an earlier one saw them write nothing but where they may, and end where whole looks end.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "layout/layout.hpp"
#include "model/limit_files.hpp"
#include "pass/glance.hpp"
#include "pass/reconsider.hpp"
#include "pass/seen_groups.hpp"
#include "plan/desired.hpp"
#include "plan/diff.hpp"
#include "support/allowed.hpp"
#include "support/random_scenario.hpp"
#include "support/thread_events.hpp"

namespace kcg::test {
namespace {

constexpr std::uint64_t kCases = 300;

/// A group of ours, any.
std::optional<GroupRef> one_of_ours(Random& random, const SandboxWorld& world) {
  const auto marked = world.marked_groups();
  if (marked.empty()) return std::nullopt;
  const auto& one = random.one_of(marked);
  const auto colon = one.find(':');
  return GroupRef{one.substr(0, colon), CgroupPath::parse(one.substr(colon + 1)).value()};
}

void in_groups(Random& random, SandboxWorld& world) {
  const auto group = one_of_ours(random, world);
  const auto choice = random.upto(4);
  const bool half = random.chance(50);
  if (!group) return;
  world.tree.outside([&](CgroupTree& tree) {
    // ignored below: a file or a group that takes nothing stays as it is
    switch (choice) {
      case 0:
        (void)tree.write(*group, group->hierarchy == "v2" ? "cpu.weight" : "cpu.shares", "3000");
        return;
      case 1:
        (void)tree.write(*group, group->hierarchy == "v2" ? "cpu.max" : "cpu.cfs_quota_us",
                         group->hierarchy == "v2" ? "20000 100000" : "20000");
        return;
      case 2:
        (void)tree.clear_mark(*group);
        return;
      case 3:
        (void)tree.remove(*group);
        if (half) (void)tree.make(*group);
        return;
      default:
        (void)tree.write(*group, "cgroup.procs", std::to_string(world.shim));
    }
  });
}

std::map<std::string, std::string> weights(const GroupState& group) {
  std::map<std::string, std::string> weights(group.files.begin(), group.files.end());
  std::erase_if(weights, [](const auto& file) { return !is_weight_file(file.first); });
  return weights;
}

/// What the last look at a sandbox has left: one that is settled, or one whose VMM has not started.
class Seen final {
 public:
  enum class Since { long_ago, its_shim_started };
  Seen(Random& random, Since since, bool deaf)
      : world_(random_scenario(random)), events_(random, world_, deaf) {
    if (since == Since::its_shim_started) {
      world_.confirm_after = std::chrono::milliseconds(20);
      world_.start_shim();
      whole();
      return;
    }
    world_.boot();
    for (int passes = 0; passes < 4; ++passes) whole();
    world_.confirm_after = std::chrono::milliseconds(20);
  }
  [[nodiscard]] SandboxWorld& world() { return world_; }
  void in_threads() { events_.happen(); }
  [[nodiscard]] bool hold() const { return last_ && last_->groups_hold; }
  /// What a glance finds. nullopt: not all was where it belongs.
  std::optional<Glanced> glance() {
    if (!glance_) return std::nullopt;
    auto& w = world_;
    return look_at_threads({w.tree, w.proc, w.clock, w.manager, w.notes}, w.scenario.config,
                           *glance_, events_.told(), events_.hears(), w.record);
  }

  Round whole() {
    const auto pass = world_.pass();
    keep(pass);
    return pass.last();
  }

  /// What is taken as the last look saw it is as a look at all would see it. False: more than that
  /// was asked for.
  bool compare(const ThreadsRead* threads = nullptr) {
    auto whole = world_.look();
    world_.threads = threads;
    const auto round = part();
    world_.threads = nullptr;
    EXPECT_EQ(round.observed.processes, whole.observed.processes);
    EXPECT_EQ(round.observed.threads_alone, threads != nullptr);
    whole.report = round.report;
    take_in_weights(whole);
    EXPECT_EQ(round.plan, whole.plan);
    EXPECT_EQ(round.between, diff(round.observed, round.want));
    EXPECT_EQ(round.want.conditions, whole.want.conditions);
    const auto& config = world_.scenario.config;
    EXPECT_EQ(explanations(config, round.observed), explanations(config, whole.observed));
    return round.observed.groups_since == since_;
  }

  /// One that takes the groups as they were seen, and acts. Nobody has told what others did to
  /// them: of those that are not as they were it writes to none.
  Round part() {
    const auto seen = std::move(*last_);
    since_ = seen.observed.groups_since;
    world_.last = &seen.observed;
    world_.groups_hold = true;
    std::vector<std::pair<FakeWrite, bool>> writes;  // and whether the group was as it was seen
    world_.tree.on_operation([&](const FakeWrite& write) {
      const auto* group = seen.observed.group(write.group);
      const auto mark = world_.tree.mark(write.group);
      const auto text = mark && *mark ? (*mark)->text : "";
      writes.emplace_back(write, group != nullptr && mark && text == group->mark.value_or(""));
      return 0;
    });
    const auto pass = world_.pass();
    world_.tree.on_operation({});
    world_.last = nullptr;
    world_.groups_hold = false;
    const auto& first = pass.rounds.front();
    writes.resize(std::min(writes.size(), first.report.results.size()));  // one for each step
    for (const auto& [write, as_seen] : writes)
      EXPECT_TRUE(as_seen || first.observed.groups_since != since_) << describe(write);
    keep(pass);
    return first;
  }

 private:
  void keep(const Pass& pass) {
    world_.end_jobs();
    auto round = pass.last();
    take_in_made(round);
    glance_ = glance_after(pass.result, world_.clock);
    last_ = last_look(std::move(round), world_.record, world_.assembled.conditions);
    world_.clock.advance(std::chrono::milliseconds(1));
  }

  SandboxWorld world_;
  ThreadEvents events_;
  std::optional<LastLook> last_;
  Instant since_{0};
  std::optional<Glance> glance_;
};

void in_many_worlds(const std::function<void(Random&, Seen&)>& test,
                    Seen::Since since = Seen::Since::long_ago) {
  for (std::uint64_t i = 0; i < case_count(kCases); ++i) {
    const auto seed = first_seed() + i;
    Random random(seed);
    const bool deaf = random.chance(50);
    Seen seen(random, since, deaf);
    SCOPED_TRACE(
        fmt::format("KCG_SEED={} {}, deaf: {}", seed, describe(seen.world().scenario), deaf));
    test(random, seen);
  }
}

TEST(SeenGroups, AreTakenForWhatTheyAre) {
  unsigned parts = 0;
  in_many_worlds([&](Random&, Seen& seen) {
    for (int events = 0; events < 10; ++events) {
      seen.in_threads();
      if (!seen.hold()) {
        seen.whole();
        continue;
      }
      ++parts;
      EXPECT_TRUE(seen.compare());
    }
  });
  EXPECT_GT(parts, 0U);
}

/// A quota above ours may have been raised since, and nobody has told.
TEST(SeenGroups, NeverLimitToWhatWasAllowedBefore) {
  unsigned taken = 0;
  in_many_worlds([&](Random& random, Seen& seen) {
    auto& world = seen.world();
    const auto before = world.scenario.pod_less ? 0 : world.scenario.pod_quota;
    if (!seen.hold() || before == 0) return;
    world.limit_pod(random.chance(50) ? std::to_string(2 * before) : "-1");
    if (random.chance(50)) seen.in_threads();
    taken += seen.compare() ? 1U : 0U;
  });
  EXPECT_GT(taken, 0U);
}

/// A look at threads alone decides what a whole one would.
TEST(SeenGroups, AndProcessesAreTakenForWhatTheyAre) {
  unsigned parts = 0;
  in_many_worlds([&](Random&, Seen& seen) {
    for (int events = 0; events < 10; ++events) {
      seen.in_threads();
      const auto glanced = seen.hold() ? seen.glance() : std::nullopt;
      if (glanced && glanced->as_seen) continue;
      if (!glanced || glanced->read.processes.empty()) {
        seen.whole();
        continue;
      }
      ++parts;
      EXPECT_TRUE(seen.compare(&glanced->read));
    }
  });
  EXPECT_GT(parts, 0U);
}

/// Groups that were made are known without being read, and what Kata makes beside them is read.
TEST(SeenGroups, ThatWereMadeAreTakenForWhatTheyAre) {
  unsigned taken = 0;
  in_many_worlds(
      [&](Random& random, Seen& seen) {
        auto& world = seen.world();
        if (!seen.hold()) return;
        world.around_told = random.chance(70);
        if (world.around_told) world.kata_makes_groups();
        if (random.chance(80)) world.start_vmm();
        if (world.vmm != 0 && random.chance(80)) world.start_threads();
        taken += seen.compare() ? 1U : 0U;
      },
      Seen::Since::its_shim_started);
  EXPECT_GT(taken, 0U);
}

/// Nobody looks again for a weight that we have written: what is shown after that is what is there.
TEST(SeenGroups, AreShownAsTheyWereLeft) {
  unsigned written = 0;
  in_many_worlds([&](Random& random, Seen& seen) {
    auto& world = seen.world();
    for (int events = 0; events < 10; ++events) {
      random.chance(60) ? seen.in_threads() : in_groups(random, world);
      const auto last = seen.whole();
      const auto& steps = last.plan.steps;
      // What follows from groups that were made the next look tells.
      if (!groups_hold(last) || std::any_of(steps.begin(), steps.end(), is<op::Create>)) continue;
      const auto now = world.look();
      EXPECT_EQ(last.want.conditions, now.want.conditions);
      EXPECT_EQ(last.want.ceiling, now.want.ceiling);
      for (const auto& [ref, group] : now.observed.groups)
        EXPECT_EQ(weights(*last.observed.group(ref)), weights(group)) << ref.path.str();
      written += std::any_of(steps.begin(), steps.end(), is<op::Limit>);
    }
  });
  EXPECT_GT(written, 0U);
}

TEST(SeenGroups, LeadWhereWholeLooksLead) {
  in_many_worlds([&](Random& random, Seen& seen) {
    auto& world = seen.world();
    const auto act = world.look().want.act;
    for (int events = 0; events < 10; ++events) {
      random.chance(60) ? seen.in_threads() : in_groups(random, world);
      (void)(seen.hold() ? seen.part() : seen.whole());  // ignored: what counts is the end
    }
    world.clock.advance(std::chrono::minutes(10));  // nothing is contested any more
    for (int passes = 0; passes < 4; ++passes) seen.whole();
    const auto end = world.look();
    if (!act || !end.want.act) return;
    EXPECT_TRUE(end.plan.steps.empty()) << describe(end.plan.steps.front());
  });
}

}  // namespace
}  // namespace kcg::test
