// SPDX-License-Identifier: Apache-2.0
#include "history/histories.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/units.hpp"

namespace kcg {

namespace {

bool again(const SandboxEvent& a, const SandboxEvent& b) {
  return a.kind == b.kind && a.subject == b.subject && a.group == b.group;
}

void add(std::vector<SandboxEvent>& events, SandboxEvent event) {
  const auto known = std::find_if(events.begin(), events.end(),
                                  [&](const SandboxEvent& one) { return again(one, event); });
  if (known != events.end()) {
    event.first = known->first;
    event.times += known->times;
    events.erase(known);
  } else if (events.size() == Histories::kMostEvents) {
    events.erase(events.begin());
  }
  events.push_back(std::move(event));
}

bool repaired(const std::vector<Repair>& repairs, const Step& step, const std::string& key) {
  return std::any_of(repairs.begin(), repairs.end(), [&](const Repair& repair) {
    return repair.group == step.group && repair.file == key;
  });
}

}  // namespace

template <class Change>
bool Histories::change(All::iterator known, const Change& change) {
  auto who = known->second.who.whole();
  if (!change(who)) return false;
  known->second.who = Packed(who);
  changed_.insert(known->first);
  return true;
}

void Histories::restore(SandboxHistory history) {
  auto& known = all_[history.id];
  auto before = known.who.whole();
  set_ended(before, 0);
  const auto when = std::exchange(history.ended, 0);
  set_ended(history, when);
  known.events = Packed(std::exchange(history.events, {}));
  known.who = Packed(history);
  drop_oldest_ended();
}

void Histories::set_ended(SandboxHistory& history, std::int64_t wall_seconds) {
  if (history.ended != 0) ended_.erase({history.ended, history.id});
  history.ended = wall_seconds;
  if (wall_seconds != 0) ended_.emplace(wall_seconds, history.id);
}

void Histories::seen(const SandboxView& view) {
  const auto who = [](const auto& one) {
    return std::tie(one.id, one.pod_namespace, one.pod_name, one.engine, one.pod_cgroup,
                    one.sandbox_cgroup, one.created, one.handler);
  };
  const auto declared = view.overhead.memory_bytes;
  change(all_.try_emplace(view.id).first, [&](SandboxHistory& known) {
    if (who(known) == who(view) && known.overhead_declared == declared && known.ended == 0)
      return false;
    set_ended(known, 0);
    known.id = view.id;
    known.pod_namespace = view.pod_namespace;
    known.pod_name = view.pod_name;
    known.engine = view.engine;
    known.pod_cgroup = view.pod_cgroup;
    known.sandbox_cgroup = view.sandbox_cgroup;
    known.created = view.created;
    known.handler = view.handler;
    known.overhead_declared = declared;
    return true;
  });
}

bool Histories::note(const std::string& id, SandboxEvent event) {
  const auto known = all_.find(id);
  if (known == all_.end()) return false;
  auto events = known->second.events.whole();
  add(events, std::move(event));
  known->second.events = Packed(events);
  changed_.insert(id);
  return true;
}

bool Histories::overhead(const std::string& id, std::uint64_t vmm_start, std::uint64_t peak) {
  const auto known = all_.find(id);
  return known != all_.end() && change(known, [&](SandboxHistory& history) {
           const auto before = history.overhead_peak;
           const bool same_vm = history.vmm_start == vmm_start;
           if (same_vm && peak < before + std::max(kMib, before / 64)) return false;
           history.vmm_start = vmm_start;
           history.overhead_peak = peak;
           return true;
         });
}

void Histories::guest_ram(const std::string& id, std::uint64_t bytes) {
  const auto known = all_.find(id);
  if (known == all_.end()) return;
  change(known,
         [&](SandboxHistory& history) { return std::exchange(history.guest_ram, bytes) != bytes; });
}

std::optional<std::uint64_t> Histories::overhead_peak(const std::string& id,
                                                      std::uint64_t vmm_start) const {
  const auto known = who(id);
  if (!known || known->vmm_start != vmm_start || known->overhead_peak == 0) return std::nullopt;
  return known->overhead_peak;
}

bool Histories::ended(const std::string& id, std::int64_t wall_seconds, const std::string& text) {
  const auto known = all_.find(id);
  const bool news = known != all_.end() && change(known, [&](SandboxHistory& history) {
                      if (history.ended != 0) return false;
                      set_ended(history, wall_seconds);
                      return true;
                    });
  if (!news) return false;
  SandboxEvent event;
  event.kind = EventKind::ended;
  event.text = text;
  event.first = event.last = wall_seconds;
  (void)note(id, std::move(event));  // ignored: it is known
  drop_oldest_ended();
  return true;
}

std::optional<SandboxHistory> Histories::find(const std::string& id) const {
  auto history = who(id);
  if (history) history->events = all_.at(id).events.whole();
  return history;
}

std::optional<SandboxHistory> Histories::who(const std::string& id) const {
  const auto known = all_.find(id);
  if (known == all_.end()) return std::nullopt;
  return known->second.who.whole();
}

std::vector<std::string> Histories::ids() const {
  std::vector<std::string> ids;
  for (const auto& [id, kept] : all_) ids.push_back(id);
  return ids;
}

std::map<std::string, SandboxHistory> Histories::living() const {
  std::map<std::string, SandboxHistory> living;
  for (const auto& [id, kept] : all_)
    if (auto history = kept.who.whole(); history.ended == 0)
      living.emplace_hint(living.end(), id, std::move(history));
  return living;
}

std::set<std::string> Histories::take_changed() { return std::exchange(changed_, {}); }

void Histories::drop_oldest_ended() {
  if (ended_.size() <= kMostEnded) return;
  const auto oldest = std::move(ended_.extract(ended_.begin()).value().second);
  changed_.insert(oldest);
  all_.erase(oldest);
}

std::vector<SandboxEvent> events_of(const Report& report, const std::vector<Repair>& repairs,
                                    std::int64_t wall_seconds) {
  std::vector<SandboxEvent> events;
  const auto add_one = [&](EventKind kind, const std::string& file, const GroupRef& group,
                           const std::string& from, const std::string& to) {
    SandboxEvent event;
    event.kind = kind;
    event.subject = file;
    event.group = group.path.str();
    event.from = from;
    event.to = to;
    event.first = event.last = wall_seconds;
    events.push_back(std::move(event));
  };
  for (const auto& repair : repairs)
    add_one(EventKind::repaired, repair.file, repair.group, repair.found, repair.written);
  for (const auto& result : report.results) {
    const auto* change = change_of(result.step);
    const bool asked = is<op::SetScope>(result.step) && result.outcome == Outcome::pending;
    if (change == nullptr || change->old_value.empty() || is<op::Seed>(result.step)) continue;
    if (result.outcome != Outcome::done && !asked) continue;
    if (!repaired(repairs, result.step, change->key))
      add_one(EventKind::limit_changed, change->key, result.step.group, change->old_value,
              change->new_value);
  }
  return events;
}

SandboxEvent event_of(const ConditionNews& news, std::int64_t wall_seconds) {
  SandboxEvent event;
  event.kind = news.what == ConditionNews::What::cleared ? EventKind::cleared : EventKind::raised;
  event.subject = info(news.condition.condition).name;
  event.text = news.condition.text;
  event.severity = news.condition.severity;
  event.first = event.last = wall_seconds;
  return event;
}

bool vcpus_run(const Observed& observed) {
  if (observed.vmm_age_ms >= kYoungMs) return true;
  for (const auto& process : observed.processes)
    for (const auto& thread : process.threads)
      if (thread.cls == ThreadClass::vcpu) return true;
  return false;
}

SandboxEvent placed_event(const Observed& observed, std::optional<Instant> took,
                          std::int64_t wall_seconds) {
  std::size_t threads = 0;
  for (const auto& process : observed.processes) threads += process.threads.size();
  SandboxEvent event{.kind = EventKind::placed, .first = wall_seconds, .last = wall_seconds};
  event.text = fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
  if (took)
    event.text += fmt::format(", {}.{} ms after the last vCPU", took->count() / 1000,
                              took->count() % 1000 / 100);
  return event;
}

}  // namespace kcg
