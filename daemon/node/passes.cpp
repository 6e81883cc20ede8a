// SPDX-License-Identifier: Apache-2.0
#include "daemon/node/passes.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <chrono>
#include <utility>

#include "identify/recognise.hpp"
#include "model/ticks.hpp"
#include "pass/seen_groups.hpp"

namespace kcg {

namespace {

constexpr Instant kTrimPause = std::chrono::seconds(10);
/// A pass that takes longer lets others go first.
constexpr Instant kPassSlice = std::chrono::milliseconds(10);

/// Nothing in files or memory says that this is Kata's: a runc pod, never looked at further.
bool ignorable(const Record& record, const Assembled& assembled) {
  return record.trusted.empty() && record.shim_candidates.empty() && record.found_groups.empty() &&
         !record.ended && !proves_kata(assembled.inputs);
}

/// Its shim runs, and no VMM of it has been seen yet.
bool vmm_awaited(const PassResult& result) {
  if (!result.last) return false;
  const auto& observed = result.last->observed;
  return !observed.fixed && observed.first(ProcessRole::shim) != nullptr &&
         !vmm_started(observed) && !observed.unread();
}

/// Then the rest was not looked at.
bool of_threads_alone(const PassResult& result) {
  return result.last && result.last->observed.threads_alone;
}

}  // namespace

PassWorld Passes::pass_world() const {
  const auto& world = node_.world;
  return {world.tree, world.proc, world.clock, world.systemd, world.store};
}

Told Passes::told(const SandboxId& id) const {
  return node_.follower == nullptr ? Told{} : node_.follower->told(id);
}

PassOrder Passes::order(const SandboxId& id, const Entry& entry, const Assembled& assembled) const {
  PassOrder order{node_.config, assembled, std::nullopt};
  order.measured = entry.overhead.measured();
  order.near_limit = entry.measuring.near_limit.now();
  const bool leave = node_.config.placement.existing == ExistingPolicy::leave;
  if (leave && !entry.adopted) order.managed_since = node_.managed_since;
  order.told = told(id);
  return order;
}

Round Passes::look(const SandboxId& id, const Entry& entry) const {
  const auto assembled = node_.inputs.inputs(id);
  return kcg::look(pass_world(), order(id, entry, assembled), entry.record);
}

void Passes::pass(const SandboxId& id, Due why) {
  const auto glanced = glance(id, why);
  if (glanced.as_seen) return;
  auto& entry = node_.sandboxes.get(id);
  node_.read_unread(id);
  const auto assembled = node_.inputs.inputs(id);
  const bool named = assembled.inputs.bundle || assembled.inputs.registration;
  if (ignorable(entry.record, assembled) || (entry.over && !named)) return forget(id);
  auto result = run(id, why, entry, assembled, glanced.read);
  if (const auto& job = entry.record.scope->pending) node_.sandboxes.await_unit(job->unit, id);
  if (result.last) take_in_made(*result.last);
  if (result.last) track(id, entry, *result.last);
  if (result.unfinished) {
    node_.scheduler.resume(id, why);
    return node_.waiters.passed(id, result.steps, result.failed_step, true);
  }
  look_later(id, entry, result);
  entry.look_due = false;
  entry.over = result.follow_up.forget;
  node_.rest(entry, vmm_awaited(result) ? kRestBeforeVmm : kRest);
  if (const auto news = std::exchange(entry.news, std::nullopt))
    node_.dirty(id, *news, Changed::no_group);  // else it has been noted
  tell(id, entry, result);
  const bool open = entry.record.scope->pending.has_value();
  const bool known = result.last && (result.last->observed.inputs.bundle ||
                                     result.last->observed.inputs.registration);
  if (result.follow_up.forget && !known) forget(id);
  if (result.last) collect_registration(id, result.last->observed);
  node_.waiters.passed(id, result.steps, result.failed_step, open);
  if (!result.last || node_.sandboxes.find(id) == nullptr) return;
  if (auto look = last_look(std::move(*result.last), entry.record, assembled.conditions))
    node_.recent.keep(id, std::move(*look));
  else
    node_.recent.drop(id);
}

/// By itself, or for another glance.
void Passes::look_later(const SandboxId& id, Entry& entry, const PassResult& result) {
  auto when = result.follow_up.retry_at;
  auto glance = glance_after(result, node_.world.clock);
  if (of_threads_alone(result)) {
    when = earlier(when, take_over(*entry.glance, glance));
    node_.scheduler.glanced(id);
  }
  node_.scheduler.wake(id, when);
  entry.glance = std::move(glance);
}

/// Whether a glance at the threads finds all as it was.
Glanced Passes::glance(const SandboxId& id, Due why) {
  auto* entry = node_.sandboxes.find(id);
  if (entry == nullptr || entry->look_due || !entry->glance) return {};
  const auto look_at = entry->glance->look_at;
  const bool stirred = why == Due::event || why == Due::placement;
  if (!stirred || (look_at && *look_at <= node_.world.clock.now())) return {};
  const auto seen = look_at_threads(pass_world(), node_.config, *entry->glance, entry->stirred,
                                    told(id), entry->record);
  if (node_.world.log.enabled(LogLevel::debug))
    node_.world.log.debug(fmt::format("sandbox '{}': glance", id.str()));
  if (!seen.as_seen) return seen;
  entry->news.reset();
  entry->stirred.clear();
  node_.scheduler.wake(id, seen.again);
  node_.scheduler.glanced(id);
  return seen;
}

/// Whether the groups are as the last look saw them: nobody has told anything of them since.
bool Passes::groups_hold(const SandboxId& id, Entry& entry, const LastLook& last) {
  const bool recent = node_.world.clock.now() <= last.observed.groups_since + kGroupsHold;
  if (!last.groups_hold || !recent || !told(id).groups) return false;
  hear_groups(id, entry);
  return !entry.groups_told;
}

/// One turn of a pass; a large VMM's takes several.
PassResult Passes::run(const SandboxId& id, Due why, Entry& entry, const Assembled& assembled,
                       const ThreadsRead& read) {
  // What was written has been read by now, and may have made a look due.
  const bool threads_alone = !read.processes.empty() && !entry.look_due && !entry.change_due;
  auto task = order(id, entry, assembled);
  task.so_far = entry.so_far;
  if (entry.so_far.reading == Instant(0)) {
    entry.news.reset();
    entry.stirred.clear();
  }
  entry.look_due = true;  // until it is finished
  task.slice = kPassSlice;
  const bool asked = node_.waiters.waits_for(id);
  if (node_.follower != nullptr && !asked) task.confirm_after = kConfirm;
  task.failures = entry.failures;
  auto* last = node_.recent.find(id);
  if (last != nullptr && !asked && why != Due::background) {
    task.last = &last->observed;
    task.groups_hold = groups_hold(id, entry, *last);
  }
  if (last != nullptr) last->groups_hold = false;  // should this fail, nothing is taken from it
  task.around_told = std::exchange(entry.around_told, false);
  if (threads_alone && !task.around_told) task.threads = &read;
  task.about_to_look = [&, heard = task.groups_hold]() mutable {
    if (std::exchange(heard, false)) return;
    hear_groups(id, entry);
    entry.groups_told = false;
    entry.around_told = false;
  };
  const auto heard = std::exchange(entry.heard, std::nullopt);
  unsigned looks = 0;
  auto result = run_pass(pass_world(), task, entry.record, [&](const Round& round) {
    ++looks;
    if (node_.follower != nullptr) node_.follower->wrote(round);
    count_placements(entry, round, heard);
    node_.announcer.done(id, entry, round, node_.config.mode);
  });
  if (node_.world.log.enabled(LogLevel::debug))
    node_.world.log.debug(fmt::format("sandbox '{}': {}, looks: {}", id.str(), name(why), looks));
  if (!of_threads_alone(result)) node_.scheduler.looked(id);
  entry.so_far = result.unfinished ? result.so_far : PassProgress{};
  if (!result.unfinished) entry.failures = result.last ? 0 : entry.failures + 1;
  return result;
}

/// Each thread once: Kata may take it back, or somebody move it. One that was born before us was
/// not late.
void Passes::count_placements(Entry& entry, const Round& round, std::optional<Instant> heard) {
  const auto now = node_.world.clock.now();
  std::set<TaskKey> counted;
  for (const auto& result : round.report.results) {
    const auto* move = move_of(result.step);
    if (move == nullptr || move->cls != ThreadClass::vcpu || result.outcome != Outcome::done)
      continue;
    counted.insert(move->task);
    const auto born = Instant(static_cast<Instant::rep>(move->task.start * kUsecPerTick));
    if (born < began_ || !entry.counted.insert(move->task)) continue;
    entry.last_vcpu_took = placed_after(born, heard, now);
    node_.placements.add(*entry.last_vcpu_took);
  }
  if (counted.empty()) return;
  for (const auto& process : round.observed.processes)
    for (const auto& thread : process.threads) counted.insert(thread.facts.key);
  entry.counted.erase_if([&](const TaskKey& key) { return !counted.contains(key); });
}

/// What others, and we ourselves, wrote before a look is seen by it.
void Passes::hear_groups(const SandboxId& id, Entry& entry) {
  if (node_.follower == nullptr) return;
  const bool news = entry.news.has_value();
  node_.follower->hear_groups();
  if (news) return;
  entry.news.reset();
  node_.forget_change(entry);
  node_.scheduler.covered(id);
}

/// Whom the events concern that come from now on: also those between two parts of a pass.
void Passes::track(const SandboxId& id, Entry& entry, const Round& last) {
  const auto& observed = last.observed;
  entry.ceiling = last.want.ceiling;
  for (const Pid pid : node_.sandboxes.index(id, entry)) node_.world.proc.forget(pid);
  if (node_.follower == nullptr) return;
  node_.follower->follow(id, last);
  // Of one that was found running, Kata may have moved a task after it was seen and before anybody
  // told. One that is heard of before its VMM is watched in time. Others are looked at first.
  if (observed.processes.empty()) return;
  const bool running = observed.first(ProcessRole::vmm) != nullptr;
  if (!std::exchange(entry.followed, true) && running) node_.dirty(id, Due::event);
}

void Passes::tell(const SandboxId& id, Entry& entry, const PassResult& result) {
  if (result.last) {
    node_.announcer.seen(id, entry, *result.last);
  } else {
    node_.scheduler.hold(id, *result.follow_up.retry_at);
    node_.announcer.failed(id, entry);
  }
  node_.announcer.conditions(id, entry);
}

void Passes::forget(const SandboxId& id) {
  auto* entry = node_.sandboxes.find(id);
  if (entry == nullptr) return node_.waiters.forget(id);
  node_.forget_change(*entry);
  const bool published = entry->published;
  node_.scheduler.forget(id);
  node_.recent.drop(id);
  node_.world.store.forget_creation(id);  // a scope that was asked for and never came
  for (const Pid pid : node_.sandboxes.drop(id)) node_.world.proc.forget(pid);
  give_memory_back();
  if (node_.follower != nullptr) node_.follower->leave(id);
  node_.waiters.forget(id);
  if (published) node_.announcer.gone(id);
  node_.chronicle.ended(id.str());
}

/// Nobody has to unregister what has ended; another one of the same id is registered anew.
void Passes::collect_registration(const SandboxId& id, const Observed& observed) {
  const auto last = node_.registrations.last_of(id, observed);
  if (!last) return;
  // Who is about to end is seen in no group any more, and by nobody again.
  if (node_.follower != nullptr)
    for (const auto& process : *last) node_.follower->await_end(id, process);
  if (!last->empty()) return;
  auto& log = node_.world.log;
  if (const auto dropped = node_.registrations.drop(id); !dropped)
    return log.limited(LogLevel::warning, id.str(), "store", dropped.error().text);
  log.info(fmt::format(
      "sandbox '{}': its registration goes: its processes have ended, and nothing of it is left",
      id.str()));
  node_.inputs.set_registration(id, std::nullopt);
  node_.dirty(id);
}

/// The allocator keeps what a crowd of sandboxes needed; the node shall have it back when they are
/// gone. Once per crowd: walking the heap is not free.
void Passes::give_memory_back() {
  if (trim_waits_) return;
  trim_waits_ = true;
  node_.turns.after(node_.world.clock.now() + kTrimPause, [this] {
    trim_waits_ = false;
    if (const auto living = node_.world.proc.pids()) node_.world.proc.forget_all_but(*living);
    (void)::malloc_trim(0);  // ignored: whether there was something to give
  });
}

}  // namespace kcg
