// SPDX-License-Identifier: Apache-2.0
#include "pass/pass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <exception>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "apply/apply.hpp"
#include "model/ticks.hpp"
#include "pass/seen_groups.hpp"
#include "plan/desired.hpp"
#include "plan/diff.hpp"
#include "plan/warm.hpp"
#include "record/fold.hpp"
#include "record/heals.hpp"
#include "record/outcomes.hpp"

namespace kcg {

namespace {

/// A guest that starts threads faster than they can be placed is left alone until the next event.
constexpr unsigned kMostBreaks = 32;
/// What others wait for one whose look took long.
constexpr Instant kLongestTurn = std::chrono::milliseconds(40);
/// The VMM of so young a shim has few threads yet.
constexpr Instant kFewThreads = std::chrono::seconds(2);
/// More births than this are not compared with what was seen.
constexpr Pid kFewBirths = 64;
constexpr Instant kFirstDelay = std::chrono::seconds(1);
constexpr Instant kLongestDelay = std::chrono::minutes(5);

bool creates_groups(const Plan& plan) {
  return std::any_of(plan.steps.begin(), plan.steps.end(), [](const Step& step) {
    return is<op::Create>(step) || is<op::StartScope>(step);
  });
}

/// The report of observe mode: nothing was done.
Report untouched(const Plan& plan) {
  Report report;
  for (const auto& step : plan.steps) report.results.push_back(skipped(step, "observe mode"));
  return report;
}

bool counts_as_failure(const StepResult& result) {
  return result.outcome == Outcome::failed && !overtaken(result) && !still_busy(result);
}

/// Before its VMM starts Kata itself still moves its shim.
bool placed_with_vmm(const Record& record) { return record.placed_once && record.fixed; }

/// Until its end what was read ahead is ours: looks for the bus leave it alone.
class Using final {
 public:
  explicit Using(ProcView& proc) : proc_(proc) { proc_.use_ahead(true); }
  ~Using() { proc_.use_ahead(false); }
  Using(const Using&) = delete;
  Using& operator=(const Using&) = delete;

 private:
  ProcView& proc_;
};

Round look_at(const PassWorld& world, const PassOrder& order, const Record& record,
              bool groups_hold) {
  ObserveContext context;
  context.managed_since = order.managed_since;
  context.measured = order.measured;
  context.near_limit = order.near_limit;
  context.told = order.told;
  context.last = order.last;
  context.groups_hold = groups_hold;
  context.around_told = order.around_told;
  context.threads = groups_hold ? order.threads : nullptr;
  context.creation_recorded = world.notes.creation_noted(order.assembled.inputs.id);
  Round round;
  round.observed = observe_sandbox(world.tree, world.proc, world.clock, order.config,
                                   order.assembled, record, context);
  round.want = desired(order.config, round.observed);
  round.between = diff(round.observed, round.want);
  return round;
}

/// One pass under way.
class Line final {
 public:
  Line(const PassWorld& world, const PassOrder& order, Record record)
      : world_(world), order_(order), record_(std::move(record)), groups_hold_(order.groups_hold) {
    const auto now = world.clock.now();
    until_ = order.slice < Instant::max() - now ? now + order.slice : Instant::max();
    result_.so_far = order.so_far;
  }

  PassResult run(const std::function<void(const Round&)>& told) {
    for (bool more = true; more;) {
      // Not where a part was read before: what changes behind it is looked at again.
      if (order_.about_to_look && result_.so_far.reading == Instant(0)) order_.about_to_look();
      // Unknown where a part was read in an earlier turn.
      last_born_ = result_.so_far.reading == Instant(0) ? world_.proc.last_born() : std::nullopt;
      if (!read_ahead()) {
        result_.unfinished = true;
        break;
      }
      more = round();
      if (told) told(*result_.last);
      if (!more || world_.clock.now() < until_) continue;
      result_.unfinished = true;
      break;
    }
    return std::move(result_);
  }

  Record& record() { return record_; }

 private:
  /// False: the turn is over first.
  bool read_ahead() {
    const auto began = world_.clock.now();
    const auto late = [this] { return world_.clock.now() >= until_; };
    ahead_ = to_be_walked();
    const bool all = std::all_of(ahead_.begin(), ahead_.end(), [&](const TaskKey& process) {
      return world_.proc.read_ahead(process, world_.tree.host(), late);
    });
    result_.so_far.reading += world_.clock.now() - began;
    return all;
  }

  /// Whose threads will be looked at, as far as that is known: a VMM that is not proven yet is a
  /// child of its shim, and has few threads where that has just begun.
  [[nodiscard]] std::vector<TaskKey> to_be_walked() const {
    std::vector<TaskKey> found;
    bool vmm = false;
    for (const auto& trusted : record_.trusted) {
      found.push_back(trusted.key);
      vmm = vmm || trusted.role == ProcessRole::vmm;
    }
    if (vmm) return found;
    for (const auto& trusted : record_.trusted) {
      const Instant began(static_cast<Instant::rep>(trusted.key.start * kUsecPerTick));
      if (world_.clock.now() < began + kFewThreads) continue;
      const auto children = world_.proc.children(trusted.key.pid);
      if (!children) continue;  // the look tells why
      for (const Pid child : *children)
        if (const auto stat = world_.proc.stat(child)) found.push_back(stat->key);
    }
    return found;
  }

  Round look_with_what_was_read() {
    const Using using_ahead(world_.proc);
    const bool taken = std::exchange(groups_hold_, false);
    auto seen = look_at(world_, order_, record_, taken);
    const bool read = !taken || seen.observed.groups_since != order_.last->groups_since;
    if (!read && !as_seen(world_.tree, seen))
      seen = look_at(world_, order_, record_, false);
    else
      seen.groups_read = read || order_.around_told;
    for (const auto& process : ahead_) world_.proc.drop_ahead(process.pid);
    return seen;
  }

  /// Returns whether another one is to follow.
  bool round() {
    const Holding holding(world_.tree);
    const auto began = world_.clock.now();
    auto seen = look_with_what_was_read();
    const auto now = world_.clock.now();
    seen.plan = without_contested(seen.between, record_, seen.observed, now);
    const bool writes = order_.config.mode == Mode::enforce;
    if (writes && seen.plan.steps.empty()) stay_warm(seen);
    // One that takes long to look at takes as long to act upon, else it would never be done.
    const auto looking = std::exchange(result_.so_far.reading, Instant(0)) + (now - began);
    if (writes)
      act(seen, std::max(until_, now + std::min(looking, kLongestTurn)));
    else
      seen.report = untouched(seen.plan);
    const bool broken_off = seen.report.results.size() < seen.plan.steps.size();
    note(seen.report);
    auto& so_far = result_.so_far;
    ++(broken_off ? so_far.breaks : so_far.rounds);
    const unsigned number = broken_off ? 1 : std::min(so_far.rounds, kRounds);
    auto folded = fold(record_, seen.observed, seen.want, seen.report, number, world_.clock.now(),
                       world_.clock.wall_seconds());
    seen.repairs = std::move(folded.repairs);
    seen.was_placed = placed_with_vmm(record_);
    seen.is_placed = placed_with_vmm(folded.record);
    record_ = std::move(folded.record);
    result_.follow_up = folded.follow_up;
    if (may_wait(seen)) confirm_later(seen, result_.follow_up);
    take_in_weights(seen);
    result_.last = std::move(seen);
    return broken_off ? so_far.breaks < kMostBreaks : result_.follow_up.again;
  }

  [[nodiscard]] bool may_wait(const Round& seen) const {
    return order_.confirm_after && seen.report.done() == seen.plan.steps.size() &&
           !more_follows(seen.observed, seen.want) &&
           (creates_groups(seen.plan) || nobody_was_born(seen));
  }

  /// Whoever was born since the look began is a process or a thread that it has seen.
  [[nodiscard]] bool all_born_since_are_of(const Observed& observed) const {
    const auto last = last_born_ ? world_.proc.last_born() : std::nullopt;
    if (!last || *last < *last_born_ || *last - *last_born_ > kFewBirths) return false;
    const auto seen = [&](Pid task) {
      return std::any_of(
          observed.processes.begin(), observed.processes.end(), [&](const auto& one) {
            return std::any_of(one.threads.begin(), one.threads.end(),
                               [&](const auto& thread) { return thread.facts.key.pid == task; });
          });
    };
    for (Pid born = *last_born_ + 1; born <= *last; ++born)
      if (!seen(born)) return false;
    return true;
  }

  /// A process that was born before its parent was moved is where the parent was, and no event
  /// tells of it. Where groups were made a look follows anyway. A fork that had its number before
  /// the look and is listed only behind it is not noticed here: the resync finds it.
  [[nodiscard]] bool nobody_was_born(const Round& seen) const {
    if (all_born_since_are_of(seen.observed)) return true;
    std::set<Pid> known, moved;
    for (const auto& process : seen.observed.processes) known.insert(process.facts.key.pid);
    for (const auto& step : seen.plan.steps)
      if (const auto* move = as<op::MoveProcess>(step)) moved.insert(move->task.pid);
    return std::all_of(moved.begin(), moved.end(), [&](Pid parent) {
      const auto children = world_.proc.children(parent);
      return children && std::all_of(children->begin(), children->end(),
                                     [&](Pid child) { return known.contains(child); });
    });
  }

  /// What was made is followed by a look, where something may depend on it of which this one knew
  /// nothing.
  void confirm_later(const Round& seen, FollowUp& next) const {
    if (!std::exchange(next.again, false)) return;
    const auto at = world_.clock.now() + *order_.confirm_after;
    if (creates_groups(seen.plan) && !(groups_hold(seen) && nobody_was_born(seen)))
      next.look_at = earlier(next.look_at, at);
    else
      next.confirm_at = at;
    next.retry_at = earlier(next.retry_at, at);
  }

  void act(Round& seen, Instant until) {
    if (seen.plan.steps.empty()) return;
    const auto& id = order_.assembled.inputs.id;
    if (creates_groups(seen.plan)) {
      if (const auto noted = world_.notes.note_creation(id); !noted) seen.not_noted = noted.error();
    }
    seen.report = apply(seen.plan, world_.tree, world_.proc, world_.systemd,
                        [&] { return world_.clock.now() >= until; });
    // Of a part of the plan it is not known whether what was made was marked as well.
    const bool whole = seen.report.results.size() == seen.plan.steps.size();
    if (whole && !creation_open(seen.report)) world_.notes.forget_creation(id);
  }

  void stay_warm(const Round& seen) {
    // ignored: nothing is lost but some milliseconds of the next move
    (void)apply(warm_up(seen.observed, seen.want), world_.tree, world_.proc, world_.systemd);
  }

  void note(const Report& report) {
    result_.steps += static_cast<std::uint32_t>(report.done());
    for (const auto& one : report.results)
      if (counts_as_failure(one) && !result_.failed_step)
        result_.failed_step = Error{one.code, one.text};
  }

  const PassWorld& world_;
  const PassOrder& order_;
  Record record_;
  std::vector<TaskKey> ahead_;    ///< read ahead for the next look
  std::optional<Pid> last_born_;  ///< before the look; nullopt: unknown
  bool groups_hold_;              ///< those of the last look will do for the next
  Instant until_{};
  PassResult result_;
};

/// The record as it was, with the trouble in it.
PassResult failed(Record& record, unsigned before, const std::string& why, const Clock& clock) {
  const auto same = [](const ActiveCondition& active) {
    return active.condition.condition == ConditionName::pass_failed;
  };
  const auto old = std::find_if(record.conditions.begin(), record.conditions.end(), same);
  const auto since = old == record.conditions.end() ? clock.wall_seconds() : old->since;
  std::erase_if(record.conditions, same);
  record.conditions.push_back(
      {{ConditionName::pass_failed, "looking at it, or placing it, failed unexpectedly: " + why},
       since});
  record.state = SandboxState::degraded;
  PassResult result;
  result.follow_up.retry_at = clock.now() + doubled(kFirstDelay, before, kLongestDelay);
  result.failed_step = Error{EIO, why};
  return result;
}

}  // namespace

Round look(const PassWorld& world, const PassOrder& order, const Record& record) {
  auto round = look_at(world, order, record, false);
  round.plan = round.between;
  return round;
}

PassResult run_pass(const PassWorld& world, const PassOrder& order, Record& record,
                    const std::function<void(const Round&)>& told) {
  std::string why;
  try {
    Line line(world, order, record);
    auto result = line.run(told);
    record = std::move(line.record());
    return result;
  } catch (const std::exception& error) {
    why = error.what();
  } catch (...) {
    why = "unknown exception";
  }
  return failed(record, order.failures, why, world.clock);
}

}  // namespace kcg
