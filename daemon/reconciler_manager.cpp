// SPDX-License-Identifier: Apache-2.0
//
// Reconciler: what the bus asks for. Answers are observed afresh; nothing is placed by looking.
#include <algorithm>

#include "base/text.hpp"
#include "config/reload.hpp"
#include "daemon/reconciler.hpp"
#include "plan/diff.hpp"

namespace kcg {

namespace {

constexpr std::size_t kShortestPrefix = 4;

int code(ManagerError error) { return static_cast<int>(error); }

}  // namespace

DaemonInfo Reconciler::daemon_info() const {
  DaemonInfo info{KCG_VERSION, config_.mode, world_.tree.host().mode, {}};
  if (world_.systemd != nullptr) info.features.emplace_back("systemd-scopes");
  return info;
}

std::vector<SandboxView> Reconciler::list(bool with_ignored) const {
  std::vector<SandboxView> views;
  for (const auto& [id, entry] : entries_)
    if (entry.published) views.push_back(entry.view);
  if (!with_ignored) return views;
  for (const auto& id : inputs_.ids()) {
    const auto entry = entries_.find(id);
    if (entry != entries_.end() && entry->second.published) continue;
    const auto assembled = inputs_.inputs(id);
    views.push_back(ignored_view(assembled));
  }
  return views;
}

Result<std::string> Reconciler::resolve(const std::string& text) const {
  const auto exact = SandboxId::parse(text);
  if (exact && entries_.contains(*exact) && entries_.at(*exact).published) return text;
  std::vector<std::string> matches;
  for (const auto& [id, entry] : entries_)
    if (entry.published && id.str().starts_with(text)) matches.push_back(id.str());
  if (text.size() < kShortestPrefix || matches.empty())
    return fail(code(ManagerError::no_such_sandbox),
                "no sandbox '{}': give a full id or at least {} characters of one", escaped(text),
                kShortestPrefix);
  if (matches.size() > 1)
    return fail(code(ManagerError::ambiguous_id), "'{}' is ambiguous: {} and {} others match",
                escaped(text), matches.front(), matches.size() - 1);
  return matches.front();
}

Result<SandboxView> Reconciler::view(const std::string& text) {
  const auto full = resolve(text);
  if (!full) return forward(full.error());
  const auto id = SandboxId::parse(*full);
  const auto& entry = entries_.at(*id);
  const auto seen = look(*id, entry);
  return make_view(seen.observed, seen.want, entry.record);
}

Result<std::vector<Planned>> Reconciler::planned(const std::string& text) {
  std::vector<SandboxId> ids;
  if (text.empty()) {
    for (const auto& [id, entry] : entries_)
      if (entry.published) ids.push_back(id);
  } else {
    const auto full = resolve(text);
    if (!full) return forward(full.error());
    ids.push_back(*SandboxId::parse(*full));
  }
  std::vector<Planned> all;
  for (const auto& id : ids) {
    const auto& entry = entries_.at(id);
    auto seen = look(id, entry);
    std::vector<Condition> conditions;
    for (const auto& active : entry.record.conditions) conditions.push_back(active.condition);
    all.push_back({id.str(), seen.observed.host.mode, std::move(seen.want), std::move(seen.plan),
                   std::move(conditions)});
  }
  return all;
}

Result<std::string> Reconciler::plan_json(const std::string& id) {
  const auto all = planned(id);
  if (!all) return forward(all.error());
  return plan_document(*all, !id.empty());
}

Result<std::string> Reconciler::explain_json(const std::string& id) {
  const auto all = planned(id);
  if (!all) return forward(all.error());
  return explain_document(*all, !id.empty());
}

void Reconciler::reconcile(const std::string& text, bool adopt,
                           std::function<void(Result<std::uint32_t>)> done) {
  if (config_.mode == Mode::observe)
    return done(fail(code(ManagerError::observe_only),
                     "mode = \"observe\": nothing is written; see 'cgctl plan'"));
  Waiter waiter;
  if (text.empty()) {
    for (const auto& [id, entry] : entries_) waiter.left.insert(id);
  } else {
    const auto full = resolve(text);
    if (!full) return done(forward(full.error()));
    waiter.left.insert(*SandboxId::parse(*full));
  }
  if (waiter.left.empty()) return done(0U);
  waiter.done = std::move(done);
  for (const auto& id : waiter.left) {
    auto& entry = entries_[id];
    entry.adopted = entry.adopted || adopt;
    entry.record.heals.clear();           // acknowledged: contested things are tried again at once
    entry.record.scope_due = Instant(0);  // and so is systemd
    std::erase_if(entry.record.conditions, [](const ActiveCondition& active) {
      return active.condition.condition == ConditionName::stranger_moved;
    });
    mark_dirty(id);
  }
  waiters_.push_back(std::move(waiter));
}

Status Reconciler::register_sandbox(const std::string& text, const Registration& registration) {
  const auto id = SandboxId::parse(text);
  if (!id) return fail(code(ManagerError::invalid_argument), "{}", id.error().text);
  const bool fresh = !registrations_.contains(*id);
  if (fresh && registrations_.size() >= config_.limits.max_sandboxes)
    return fail(code(ManagerError::limit_reached),
                "{} sandboxes are registered already ([limits] max_sandboxes)",
                registrations_.size());
  auto next = registrations_;
  next.insert_or_assign(*id, registration);
  if (auto saved = world_.store.save(next); !saved) return saved;
  registrations_ = std::move(next);
  inputs_.set_registration(*id, registration);
  absorb(inputs_.state_changed(*id));
  pass(*id);
  return {};
}

Status Reconciler::unregister_sandbox(const std::string& text) {
  const auto id = SandboxId::parse(text);
  if (!id || !registrations_.contains(*id))
    return fail(code(ManagerError::no_such_sandbox), "'{}' is not registered", escaped(text));
  auto next = registrations_;
  next.erase(*id);
  if (auto saved = world_.store.save(next); !saved) return saved;
  registrations_ = std::move(next);
  inputs_.set_registration(*id, std::nullopt);
  mark_dirty(*id);
  return {};
}

Status Reconciler::reload() {
  if (!read_config_) return {};
  auto next = read_config_();
  if (!next) return fail(code(ManagerError::config), "{}", next.error().text);
  auto reloaded = after_reload(config_, *next);
  for (const auto& key : reloaded.needs_restart)
    world_.log.warning(fmt::format("{} changed: it is applied at the next start", key));
  config_ = std::move(reloaded.config);
  inputs_.set_config(config_);
  resync();
  return {};
}

}  // namespace kcg
