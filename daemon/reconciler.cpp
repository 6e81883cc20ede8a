// SPDX-License-Identifier: Apache-2.0
#include "daemon/reconciler.hpp"

#include <malloc.h>

#include <algorithm>
#include <chrono>

#include "observe/scan.hpp"
#include "plan/desired.hpp"
#include "plan/diff.hpp"
#include "plan/recognise.hpp"
#include "plan/warm.hpp"

namespace kcg {

namespace {

constexpr unsigned kRounds = 5;
constexpr std::int64_t kUsecPerTick = 10'000;
constexpr Instant kTrimPause = std::chrono::seconds(1);

bool creates_groups(const Plan& plan) {
  return std::any_of(plan.steps.begin(), plan.steps.end(), [](const Step& step) {
    return step.op == Op::create || step.op == Op::start_scope;
  });
}

/// Memory use changes all the time and is no news.
SandboxView without_usage(SandboxView view) {
  view.memory_used.reset();
  for (auto& group : view.groups) group.memory_current.reset();
  return view;
}

/// The report of observe mode: nothing was done.
Report untouched(const Plan& plan) {
  Report report;
  for (const auto& step : plan.steps) {
    StepResult result;
    result.step = step;
    result.outcome = Outcome::skipped;
    result.text = "observe mode";
    report.results.push_back(std::move(result));
  }
  return report;
}

}  // namespace

Reconciler::Reconciler(Loop& loop, World world, Config config)
    : loop_(loop), world_(world), config_(std::move(config)), inputs_(config_) {}

Status Reconciler::start() {
  auto registrations = world_.store.registrations();
  if (!registrations) return forward(registrations.error());
  registrations_ = std::move(*registrations);
  for (const auto& [id, registration] : registrations_) inputs_.set_registration(id, registration);
  const auto ticks = static_cast<std::uint64_t>(world_.clock.now().count() / kUsecPerTick);
  const auto first = world_.store.first_start(ticks);
  if (!first) return forward(first.error());
  managed_since_ = *first;
  for (const auto& note : world_.store.notes()) world_.log.warning(note);
  for (auto& [id, groups] : find_marked(world_.tree))
    entries_[id].record.found_groups = std::move(groups);

  resync();
  while (const auto id = next_dirty()) pass(*id);
  idle_ = Source();
  resync_later();
  return {};
}

ObserveContext Reconciler::context(const SandboxId& id, const Entry& entry) const {
  ObserveContext context;
  const bool leave = config_.placement.existing == ExistingPolicy::leave;
  if (leave && !entry.adopted) context.managed_since = managed_since_;
  context.creation_recorded = world_.store.creation_noted(id);
  return context;
}

Reconciler::Look Reconciler::look(const SandboxId& id, const Entry& entry) {
  Look look;
  look.observed = observe_sandbox(world_.tree, world_.proc, world_.clock, config_,
                                  inputs_.inputs(id), entry.record, context(id, entry));
  look.want = desired(config_, look.observed);
  look.plan = diff(look.observed, look.want);
  return look;
}

/// Nothing in files or memory says that this is Kata's: a runc pod, never looked at further.
bool Reconciler::ignorable(const SandboxId& id, const Entry& entry) const {
  const auto& record = entry.record;
  return record.trusted.empty() && record.shim_candidates.empty() && record.found_groups.empty() &&
         !record.ended && !kata_proof(inputs_.inputs(id).inputs);
}

void Reconciler::pass(const SandboxId& id) {
  auto& entry = entries_[id];
  if (ignorable(id, entry)) {
    forget(id);
    return finish_waiters(id, 0, false);
  }
  const Record before = entry.record;
  std::uint32_t steps = 0;
  bool open = false;
  for (unsigned round = 1; round <= kRounds; ++round) {
    auto seen = look(id, entry);
    const auto now = world_.clock.now();
    seen.plan = without_contested(seen.plan, entry.record, seen.observed, now);
    if (seen.plan.steps.empty()) stay_warm(seen);
    const auto report = act(id, seen.plan);
    steps += static_cast<std::uint32_t>(report.done());
    auto folded = fold(entry.record, seen.observed, seen.want, report, round, now,
                       world_.clock.wall_seconds());
    entry.record = std::move(folded.record);
    if (entry.record.pending) jobs_.insert_or_assign(entry.record.pending->unit, id);
    if (folded.follow_up.again) continue;
    open = entry.record.pending.has_value();

    retry(id, entry, folded.follow_up.retry_at);
    index(id, entry);
    if (follower_ != nullptr) follower_->follow(id, seen.observed);
    publish(id, entry, seen);
    publish_conditions(id, before, entry.record);
    const bool known = seen.observed.inputs.bundle || seen.observed.inputs.registration;
    if (folded.follow_up.forget && !known) forget(id);
    break;
  }
  finish_waiters(id, steps, open);
}

Report Reconciler::act(const SandboxId& id, const Plan& plan) {
  if (plan.steps.empty()) return {};
  if (config_.mode == Mode::observe) return untouched(plan);
  const bool creates = creates_groups(plan);
  if (creates) {
    if (const auto noted = world_.store.note_creation(id); !noted)
      world_.log.limited(LogLevel::error, id.str(), "store", noted.error().text);
  }
  auto report = apply(plan, world_.tree, world_.proc, world_.systemd);
  if (!creation_open(report)) world_.store.forget_creation(id);
  note_report(id, report);
  return report;
}

void Reconciler::stay_warm(const Look& look) {
  if (config_.mode == Mode::observe) return;
  // ignored: nothing is lost but some milliseconds of the next move
  (void)apply(warm_up(look.observed, look.want), world_.tree, world_.proc, world_.systemd);
}

void Reconciler::note_report(const SandboxId& id, const Report& report) {
  for (const auto& result : report.results) {
    const auto& step = result.step;
    const bool failed =
        result.outcome == Outcome::failed && !overtaken(result) && !still_busy(result);
    if (!failed && !world_.log.enabled(LogLevel::debug)) continue;
    const auto text =
        fmt::format("{} '{}:{}' {} '{}' -> '{}'{}{}", name(step.op), step.group.hierarchy,
                    step.group.path.str(), step.key, step.old_value,
                    step.task ? std::to_string(step.task->pid) : step.new_value,
                    result.text.empty() ? "" : ": ", result.text);
    if (failed)
      world_.log.limited(LogLevel::notice, id.str(), name(step.op), text);
    else
      world_.log.debug(fmt::format("sandbox '{}': {}", id.str(), text));
  }
}

void Reconciler::index(const SandboxId& id, Entry& entry) {
  for (const Pid pid : entry.owned) {
    const auto it = owner_.find(pid);
    if (it != owner_.end() && it->second == id) owner_.erase(it);
    if (std::none_of(entry.record.trusted.begin(), entry.record.trusted.end(),
                     [pid](const Trusted& trusted) { return trusted.key.pid == pid; }))
      world_.proc.forget(pid);
  }
  entry.owned.clear();
  for (const auto& trusted : entry.record.trusted) {
    owner_.insert_or_assign(trusted.key.pid, id);
    entry.owned.push_back(trusted.key.pid);
  }
}

void Reconciler::publish(const SandboxId& id, Entry& entry, const Look& look) {
  if (!look.observed.proven_kata) return;
  auto view = make_view(look.observed, look.want, entry.record);
  view.threads.clear();
  const auto before = std::move(entry.view);
  entry.view = std::move(view);
  const bool first = !entry.published;
  entry.published = true;
  if (first)
    world_.log.info(fmt::format("sandbox '{}' found: {}", id.str(), entry.view.pod_cgroup));
  if (publisher_ == nullptr) return;
  if (first)
    publisher_->added(entry.view);
  else if (!(without_usage(before) == without_usage(entry.view)))
    publisher_->changed(before, entry.view);
}

void Reconciler::publish_conditions(const SandboxId& id, const Record& before,
                                    const Record& after) {
  const auto has = [](const Record& record, const Condition& condition) {
    return std::any_of(record.conditions.begin(), record.conditions.end(), [&](const auto& active) {
      return active.condition.condition == condition.condition;
    });
  };
  for (const auto& active : after.conditions)
    if (!has(before, active.condition)) world_.log.condition(id.str(), active.condition, true);
  for (const auto& active : before.conditions)
    if (!has(after, active.condition)) world_.log.condition(id.str(), active.condition, false);
}

void Reconciler::forget(const SandboxId& id) {
  const auto it = entries_.find(id);
  if (it == entries_.end()) return;
  const bool published = it->second.published;
  retry(id, it->second, std::nullopt);
  world_.store.forget_creation(id);  // a scope that was asked for and never came
  std::erase_if(jobs_, [&](const auto& job) { return job.second == id; });
  it->second.record.trusted.clear();
  index(id, it->second);
  entries_.erase(it);
  give_memory_back();
  if (follower_ != nullptr) follower_->leave(id);
  if (!published) return;
  world_.log.info(fmt::format("sandbox '{}' is gone", id.str()));
  if (publisher_ != nullptr) publisher_->removed(id.str());
}

/// The allocator keeps what a crowd of sandboxes needed; the node shall have it back when they are
/// gone. Once per crowd: walking the heap is not free.
void Reconciler::give_memory_back() {
  if (trim_waits_) return;
  trim_waits_ = true;
  (void)after(world_.clock.now() + kTrimPause, [this] {  // ignored: never cancelled
    trim_waits_ = false;
    world_.proc.forget_ended();
    (void)::malloc_trim(0);  // ignored: whether there was something to give
  });
}

/// What systemd has not answered is not done.
void Reconciler::finish_waiters(const SandboxId& id, std::uint32_t steps, bool open) {
  for (auto it = waiters_.begin(); it != waiters_.end();) {
    if (it->left.contains(id)) it->steps += steps;
    if (!open) it->left.erase(id);
    if (!it->left.empty()) {
      ++it;
      continue;
    }
    const auto done = std::move(it->done);
    const auto total = it->steps;
    it = waiters_.erase(it);
    done(total);
  }
}

}  // namespace kcg
