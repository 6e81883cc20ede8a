// SPDX-License-Identifier: Apache-2.0
#include "daemon/node/api.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "base/version.hpp"
#include "config/reload.hpp"
#include "history/condition_news.hpp"
#include "plan/desired.hpp"
#include "show/history_documents.hpp"
#include "show/survey_documents.hpp"
#include "show/view.hpp"

namespace kcg {

namespace {

/// Jobs that wait, each for somebody on the bus.
constexpr std::size_t kMostJobs = 32;

int code(ManagerError error) { return static_cast<int>(error); }

}  // namespace

DaemonInfo NodeApi::daemon_info() const {
  const auto& world = node_.world;
  DaemonInfo info{
      version(), node_.config.mode, world.tree.host().mode, {}, std::string(log_target())};
  if (world.systemd != nullptr) info.features.emplace_back("systemd-scopes");
  return info;
}

std::vector<std::string> NodeApi::problems() const {
  return health_ == nullptr ? std::vector<std::string>{} : health_->problems();
}

std::map<std::string, std::string> NodeApi::parts() const {
  std::map<std::string, std::string> parts;
  if (health_ == nullptr) return parts;
  for (const auto& [part, state] : health_->parts()) parts[part] = name(state);
  return parts;
}

std::vector<SandboxView> NodeApi::list(bool with_ignored) const {
  std::vector<SandboxView> views;
  for (const auto& [id, entry] : node_.sandboxes.all())
    if (entry.published) views.push_back(entry.view.whole());
  if (!with_ignored) return views;
  for (const auto& id : node_.inputs.ids()) {
    const auto* entry = node_.sandboxes.find(id);
    const bool managed = entry != nullptr && entry->published;
    const auto assembled = node_.inputs.inputs(id);
    if (!managed) views.push_back(ignored_view(assembled));
    // Of two with the same id one counts; the other must not vanish without a word.
    for (auto& view : ignored_bundles(assembled)) views.push_back(std::move(view));
  }
  return views;
}

std::optional<std::uint64_t> NodeApi::memory_used(const std::string& text) const {
  const auto id = SandboxId::parse(text);
  const auto* entry = id ? node_.sandboxes.find(*id) : nullptr;
  if (entry == nullptr) return std::nullopt;
  const auto groups = entry->view.whole().groups;
  const auto charged = std::find_if(groups.begin(), groups.end(), [](const GroupView& group) {
    return group.memory_current.has_value();
  });
  if (charged == groups.end()) return std::nullopt;
  const auto path = CgroupPath::parse(charged->path);
  if (!path) return std::nullopt;
  const auto& tree = node_.world.tree;
  for (const auto& h : tree.host().hierarchies) {
    if (!h.has("memory")) continue;
    const auto now =
        tree.read({h.name, *path}, h.unified ? "memory.current" : "memory.usage_in_bytes");
    if (const auto bytes = now ? parse_u64(*now) : std::nullopt) return bytes;
  }
  return std::nullopt;
}

std::map<std::string, std::uint64_t> NodeApi::conditions_raised() const {
  std::map<std::string, std::uint64_t> out;
  for (const auto& one : all_conditions())
    out[std::string(one.name)] =
        node_.announcer.raised().at(static_cast<std::size_t>(one.condition));
  return out;
}

Measured NodeApi::measured(const std::string& text) const {
  const auto id = SandboxId::parse(text);
  const auto* entry = id ? node_.sandboxes.find(*id) : nullptr;
  if (entry == nullptr) return {};
  return {entry->overhead.measured(), entry->measuring.cpu.milli()};
}

std::optional<SandboxUsage> NodeApi::usage(const std::string& text) {
  const auto id = SandboxId::parse(text);
  return id ? meter_.usage(*id) : std::nullopt;
}

Result<std::string> NodeApi::resolve(const std::string& text) const {
  const auto id = node_.sandboxes.resolve(text);
  if (!id) return forward(id.error());
  return id->str();
}

Result<SandboxView> NodeApi::view(const std::string& text) {
  const auto id = node_.sandboxes.resolve(text);
  if (!id) return forward(id.error());
  const auto& entry = *node_.sandboxes.find(*id);
  const auto seen = passes_.look(*id, entry);
  auto view = make_view(seen.observed, seen.want, seen.plan, standing_of(entry.record));
  view.threads = thread_views(seen.observed, seen.want);
  return view;
}

Result<std::vector<Planned>> NodeApi::planned(const std::string& text) const {
  std::vector<SandboxId> ids;
  if (text.empty()) {
    ids = node_.sandboxes.published();
  } else {
    auto id = node_.sandboxes.resolve(text);
    if (!id) return forward(id.error());
    ids.push_back(std::move(*id));
  }
  std::vector<Planned> all;
  for (const auto& id : ids) {
    const auto& entry = *node_.sandboxes.find(id);
    auto seen = passes_.look(id, entry);
    all.push_back({id.str(), seen.observed.host.mode, std::move(seen.want), std::move(seen.plan),
                   conditions_of(entry.record), explanations(node_.config, seen.observed)});
  }
  return all;
}

Result<std::string> NodeApi::plan_json(const std::string& id) {
  const auto all = planned(id);
  if (!all) return forward(all.error());
  return plan_document(*all, !id.empty());
}

Result<std::string> NodeApi::explain_json(const std::string& id) {
  const auto all = planned(id);
  if (!all) return forward(all.error());
  return explain_document(*all, !id.empty());
}

Result<std::string> NodeApi::events_json(const std::string& text) {
  const auto& histories = node_.chronicle.histories();
  auto history = histories.find(text);
  if (!history) {
    std::vector<SandboxId> ids;
    for (const auto& id : remembered())
      if (auto valid = SandboxId::parse(id)) ids.push_back(*std::move(valid));
    const auto id = only_one(std::move(ids), text);
    if (!id) return forward(id.error());
    history = histories.find(id->str());
  }
  return history_document({*history}, true);
}

Result<std::string> NodeApi::recommend_json(const std::string& handler) {
  const auto now = node_.world.clock.wall_seconds();
  return advice_document(advice_of(
      with_living(node_.overheads.survey(), node_.chronicle.histories().living(), now), handler));
}

std::vector<std::string> NodeApi::remembered() const { return node_.chronicle.histories().ids(); }

void NodeApi::reconcile(const std::string& text, bool adopt,
                        std::function<void(Result<std::uint32_t>)> done) {
  if (node_.config.mode == Mode::observe)
    return done(fail(code(ManagerError::observe_only),
                     "mode = \"observe\": nothing is written; see 'cgctl plan'"));
  if (text.empty() && adopt)
    return done(fail(code(ManagerError::invalid_argument),
                     "adopting needs the id of one sandbox: an empty id never means all of them"));
  if (text.empty())
    return resync_.when_all_known([this, done = std::move(done)] {
      std::set<SandboxId> ids;
      for (const auto& [id, entry] : node_.sandboxes.all()) ids.insert(id);
      reconcile_now(std::move(ids), false, done);
    });
  auto id = node_.sandboxes.resolve(text);
  if (!id) return done(forward(id.error()));
  reconcile_now({std::move(*id)}, adopt, std::move(done));
}

void NodeApi::reconcile_now(std::set<SandboxId> ids, bool adopt, Waiters::Done done) {
  for (const auto& id : ids) {
    auto& entry = node_.sandboxes.get(id);
    entry.adopted = entry.adopted || adopt;
    entry.record.heals = {};  // acknowledged: contested things are tried again at once
    entry.record.scope.change(
        [](ScopeTries& scope) { scope.due = Instant(0); });  // and so is systemd
    std::erase_if(entry.record.conditions, [](const ActiveCondition& active) {
      return active.condition.condition == ConditionName::stranger_moved;
    });
    node_.scheduler.pardon(id);
    node_.dirty(id);
  }
  node_.waiters.add(std::move(ids), std::move(done));
}

std::vector<RegisteredView> NodeApi::registered() const {
  std::vector<RegisteredView> views;
  for (const auto& [id, r] : node_.registrations.all())
    views.push_back({id.str(), r.pod, r.cgroups_path.value_or(""), r.shim ? r.shim->pid : 0,
                     r.vmm ? r.vmm->pid : 0, r.since, r.uid});
  return views;
}

Status NodeApi::register_sandbox(const std::string& text, const Registration& registration) {
  const auto id = SandboxId::parse(text);
  if (!id) return fail(code(ManagerError::invalid_argument), "{}", id.error().text);
  const auto most = node_.config.limits.max_sandboxes;
  if (auto kept = node_.registrations.set(*id, registration, most); !kept) return kept;
  node_.inputs.set_registration(*id, registration);
  node_.absorb(node_.inputs.state_changed(*id));
  node_.turns.guarded("a registration", [&] { passes_.pass(*id, Due::placement); });
  node_.turns.arm();  // for what is left of it
  return {};
}

Status NodeApi::unregister_sandbox(const std::string& text) {
  const auto id = SandboxId::parse(text);
  if (!id || !node_.registrations.all().contains(*id))
    return fail(code(ManagerError::no_such_sandbox), "'{}' is not registered", escaped(text));
  if (auto dropped = node_.registrations.drop(*id); !dropped) return dropped;
  node_.inputs.set_registration(*id, std::nullopt);
  node_.dirty(*id);
  return {};
}

Status NodeApi::in_background(std::function<bool()> slice) {
  if (node_.scheduler.jobs() >= kMostJobs)
    return fail(code(ManagerError::limit_reached),
                "{} calls that concern the whole node wait already: try again later", kMostJobs);
  node_.scheduler.add_job(std::move(slice));
  node_.turns.arm();
  return {};
}

Status NodeApi::reload() {
  if (!read_config_) return {};
  auto next = read_config_();
  if (!next) {  // also for the journal: what a caller is told may not get there
    node_.world.log.error(fmt::format("configuration kept as it was: {}", next.error().text));
    return fail(code(ManagerError::config), "{}", next.error().text);
  }
  auto reloaded = after_reload(node_.config, *next);
  for (const auto& key : reloaded.needs_restart)
    node_.world.log.warning(fmt::format("{} changed: it is applied at the next start", key));
  node_.world.log.notice(
      reloaded.applied.empty()
          ? std::string("the configuration was read again: nothing is to be "
                        "applied")
          : fmt::format("the configuration was read again: {}", join(reloaded.applied, ", ")));
  node_.config = std::move(reloaded.config);
  node_.inputs.set_config(node_.config);
  if (node_.follower != nullptr) node_.follower->set_mode(node_.config.mode);
  resync_.begin_interval();
  meter_.configure();
  resync_.resync();
  return {};
}

void NodeApi::set_log_level(LogLevel level) {
  auto& log = node_.world.log;
  if (level == log.most()) return;
  log.set_most(std::max(level, LogLevel::notice));  // so that this is told
  log.notice(
      fmt::format("lines up to priority {} are logged from now on", static_cast<int>(level)));
  log.set_most(level);
}

}  // namespace kcg
