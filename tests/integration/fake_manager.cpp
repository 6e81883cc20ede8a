// SPDX-License-Identifier: Apache-2.0
#include "integration/fake_manager.hpp"

#include <fmt/format.h>

#include "daemon/node/cpu_time.hpp"
#include "show/history_documents.hpp"
#include "show/plan_documents.hpp"
#include "show/survey_documents.hpp"
#include "show/view.hpp"
#include "support/sample_views.hpp"

namespace kcg::integration {

namespace {

int code(ManagerError error) { return static_cast<int>(error); }

std::string text(const std::optional<TaskKey>& task) {
  return task ? fmt::format("{}:{}", task->pid, task->start) : "-";
}

/// Works for this long, as a look does.
void spend(std::chrono::microseconds time) {
  const auto until = thread_cpu_time() + time;
  while (thread_cpu_time() < until) continue;
}

}  // namespace

DaemonInfo FakeManager::daemon_info() const {
  return {"9.9", mode, HierarchyMode::v2, {"fake"}, "console"};
}

std::vector<SandboxView> FakeManager::list(bool with_ignored) const {
  std::vector<SandboxView> all;
  for (const auto& [id, view] : views) all.push_back(view);
  if (with_ignored) all.insert(all.end(), ignored.begin(), ignored.end());
  return all;
}

Result<SandboxView> FakeManager::view(const std::string& id) {
  tell_("view " + id);
  spend(view_costs);
  const auto full = resolve(id);
  if (!full) return forward(full.error());
  auto view = views.at(*full);
  if (remove_when_looked_at) {
    views.erase(*full);
    publisher->removed(*full);
  }
  return view;
}

Result<std::string> FakeManager::resolve(const std::string& id) const {
  std::vector<std::string> matches;
  for (const auto& [full, view] : views) {
    if (full == id) return full;
    if (id.size() >= 4 && full.starts_with(id)) matches.push_back(full);
  }
  if (matches.empty()) return fail(code(ManagerError::no_such_sandbox), "no sandbox '{}'", id);
  if (matches.size() > 1) return fail(code(ManagerError::ambiguous_id), "'{}' is ambiguous", id);
  return matches.front();
}

std::optional<std::uint64_t> FakeManager::memory_used(const std::string& id) const {
  if (memory) return memory;
  return views.at(id).memory_used;
}

Measured FakeManager::measured(const std::string& id) const {
  const auto& view = views.at(id);
  return {{view.overhead_used, view.overhead_used, view.overhead_peak}, view.cpu_milli};
}

std::optional<SandboxUsage> FakeManager::usage(const std::string& id) {
  const auto known = views.find(id);
  if (known == views.end()) return std::nullopt;
  SandboxUsage usage;
  usage.memory.overhead = known->second.overhead_used;
  usage.overhead_peak = known->second.overhead_peak;
  return usage;
}

Result<std::string> FakeManager::plan_json(const std::string& id) {
  spend(look_costs);
  if (!id.empty())
    if (const auto full = resolve(id); !full) return forward(full.error());
  return plan_document({samples::planned_v2()}, !id.empty());
}

Result<std::string> FakeManager::explain_json(const std::string& id) {
  return explain_document({samples::planned_v2()}, !id.empty());
}

Result<std::string> FakeManager::events_json(const std::string& id) {
  for (const auto& history : samples::histories())
    if (history.id.starts_with(id)) return history_document({history}, true);
  return fail(code(ManagerError::no_such_sandbox), "no sandbox '{}'", id);
}

Result<std::string> FakeManager::recommend_json(const std::string& handler) {
  return advice_document(advice_of(samples::survey(), handler));
}

std::vector<std::string> FakeManager::remembered() const {
  std::vector<std::string> ids;
  for (const auto& history : samples::histories()) ids.push_back(history.id);
  return ids;
}

void FakeManager::reconcile(const std::string& id, bool adopt, Done done) {
  waiting_.push_back(std::move(done));
  tell_(fmt::format("reconcile '{}' {}", id, adopt));
}

void FakeManager::answer(const Result<std::uint32_t>& outcome) {
  const auto done = std::move(waiting_.front());
  waiting_.erase(waiting_.begin());
  done(outcome);
}

Status FakeManager::register_sandbox(const std::string& id, const Registration& r) {
  if (id == "full") return fail(code(ManagerError::limit_reached), "no room for '{}'", id);
  const bool told_when = r.since > 1'700'000'000;
  registrations.push_back({id, r.pod, r.cgroups_path.value_or(""), r.shim ? r.shim->pid : 0,
                           r.vmm ? r.vmm->pid : 0, told_when ? 1'700'000'000 : 0, r.uid});
  std::string containers;
  for (const auto& [name, limits] : r.containers)
    containers += fmt::format(" {}={}", name, limits.memory_limit.value_or(0));
  tell_(fmt::format(
      "register {} path={} handler={} pod={}/{}/{} shim={} vmm={} memory={} cpu={} "
      "only={} annotations={}{}",
      id, r.cgroups_path.value_or("-"), r.handler, r.pod.ns, r.pod.name, r.pod.uid, text(r.shim),
      text(r.vmm), r.memory_overhead.value_or(0), r.cpu_overhead_milli.value_or(0),
      r.sandbox_cgroup_only ? (*r.sandbox_cgroup_only ? "yes" : "no") : "-", r.annotations.size(),
      containers));
  return {};
}

Status FakeManager::unregister_sandbox(const std::string& id) {
  tell_("unregister " + id);
  return {};
}

Status FakeManager::in_background(std::function<bool()> slice) {
  jobs_.push_back(std::move(slice));
  arm();
  return {};
}

/// One slice per turn of the loop.
void FakeManager::arm() {
  if (soon_ || jobs_.empty()) return;
  auto source = loop->soon([this] {
    soon_ = Source();
    if (!jobs_.front()()) jobs_.pop_front();
    arm();
  });
  if (source) soon_ = *std::move(source);
}

Status FakeManager::reload() {
  if (mode == Mode::observe)
    return fail(code(ManagerError::config), "config.toml:3: overhead.default_mib: negative");
  mode = Mode::observe;
  return {};
}

}  // namespace kcg::integration
