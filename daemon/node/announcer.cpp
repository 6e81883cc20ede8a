// SPDX-License-Identifier: Apache-2.0
#include "daemon/node/announcer.hpp"

#include <fmt/format.h>

#include <utility>

#include "history/condition_news.hpp"
#include "record/outcomes.hpp"
#include "show/view.hpp"

namespace kcg {

namespace {

/// Memory use changes all the time and is no news.
SandboxView without_usage(SandboxView view) {
  view.memory_used.reset();
  view.overhead_used.reset();
  view.overhead_peak.reset();
  for (auto& group : view.groups) group.memory_current.reset();
  return view;
}

/// State that Kata left behind, and nothing besides, is no sandbox.
bool is_sandbox(const Observed& seen, const Record& record) {
  const bool there = seen.inputs.bundle || seen.inputs.registration || !seen.processes.empty() ||
                     !record.found_groups.empty();
  return seen.proven_kata && there;
}

}  // namespace

void Announcer::done(const SandboxId& id, Entry& entry, const Round& round, Mode mode) {
  if (round.not_noted) log_.limited(LogLevel::error, id.str(), "store", round.not_noted->text);
  if (mode != Mode::enforce) return;
  report(id, round.report);
  if (round.was_placed) repairs(id, round.repairs);
  auto& happened = entry.happened;
  entry.worked_on = entry.worked_on || round.report.done() > 0;
  const auto now = clock_.wall_seconds();
  if (round.was_placed)
    for (auto& event : events_of(round.report, round.repairs, now))
      happened.push_back(std::move(event));
  else
    entry.placed_untold = round.is_placed && entry.worked_on;  // else it was found so
  if (entry.placed_untold && vcpus_run(round.observed)) {
    entry.placed_untold = false;
    happened.push_back(placed_event(round.observed, entry.last_vcpu_took, now));
  }
  // A vCPU that is plugged in later is not the last one of the next life of this id.
  if (round.is_placed && !entry.placed_untold) entry.last_vcpu_took.reset();
}

void Announcer::repairs(const SandboxId& id, const std::vector<Repair>& repairs) {
  for (const auto& one : repairs) {
    const bool thread = one.file.empty();
    log_.limited(thread ? LogLevel::info : LogLevel::notice, id.str(),
                 thread ? "repaired thread" : "repaired",
                 thread ? fmt::format("put thread {} back into {}: it was in {}", one.written,
                                      one.group.path.str(), one.found)
                        : fmt::format("put back {} of {}: {} -> {}", one.file, one.group.path.str(),
                                      one.found, one.written));
  }
}

void Announcer::report(const SandboxId& id, const Report& report) {
  for (const auto& result : report.results) {
    const auto& step = result.step;
    // What may be an end becomes a condition when it lasts.
    const bool failed = result.outcome == Outcome::failed && !overtaken(result) &&
                        !still_busy(result) && !may_be_its_end(result);
    if (!failed && !log_.enabled(LogLevel::debug)) continue;
    const auto told = text_of(step);
    const auto text =
        fmt::format("{} '{}:{}' {} '{}' -> '{}'{}{}", name(step.operation),
                    step.group.hierarchy.str(), step.group.path.str(), told.key, told.old_value,
                    told.task ? std::to_string(told.task->pid) : told.new_value,
                    result.text.empty() ? "" : ": ", result.text);
    if (failed)
      log_.limited(LogLevel::notice, id.str(), name(step.operation), text);
    else
      log_.debug(fmt::format("sandbox '{}': {}", id.str(), text));
  }
}

void Announcer::seen(const SandboxId& id, Entry& entry, const Round& last) {
  const auto& observed = last.observed;
  const auto& want = last.want;
  if (!is_sandbox(observed, entry.record)) return;
  const auto view = make_view(observed, want, last.between, standing_of(entry.record));
  const auto before = std::exchange(entry.view, Packed(view));
  const bool first = !std::exchange(entry.published, true);
  chronicle_.seen(view);
  if (first)
    log_.say(LogLevel::info, fmt::format("sandbox '{}' found: {}", id.str(), view.pod_cgroup),
             log_.fields_of(id.str()));
  publish(before, view, first);
  chronicle_.note(id.str(), std::exchange(entry.happened, {}));
}

/// Before what happened to it: who listens knows by then who it is.
void Announcer::publish(const Packed<SandboxView>& before, const SandboxView& now, bool first) {
  if (publisher_ == nullptr) return;
  if (first) return publisher_->added(now);
  const auto then = before.whole();
  if (!(without_usage(then) == without_usage(now))) publisher_->changed(then, now);
}

void Announcer::failed(const SandboxId& id, Entry& entry) {
  if (!entry.published) return;
  chronicle_.note(id.str(), std::exchange(entry.happened, {}));
  const auto before = entry.view.whole();
  auto now = before;
  now.state = entry.record.state;
  now.conditions = entry.record.conditions;
  entry.view = Packed(now);
  if (publisher_ != nullptr) publisher_->changed(before, now);
}

void Announcer::conditions(const SandboxId& id, Entry& entry) {
  const auto before = std::exchange(entry.told, conditions_of(entry.record));
  for (const auto& news : condition_news(before, entry.told)) {
    if (news.what != ConditionNews::What::cleared)
      ++raised_.at(static_cast<std::size_t>(news.condition.condition));
    chronicle_.note(id.str(), {event_of(news, clock_.wall_seconds())});
    if (news.what == ConditionNews::What::again)
      log_.condition_again(id.str(), news.condition);
    else
      log_.condition(id.str(), news.condition, news.what == ConditionNews::What::raised);
  }
}

void Announcer::gone(const SandboxId& id) {
  log_.say(LogLevel::info, fmt::format("sandbox '{}' is gone", id.str()), log_.fields_of(id.str()));
  if (publisher_ != nullptr) publisher_->removed(id.str());
}

}  // namespace kcg
