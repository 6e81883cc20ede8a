// SPDX-License-Identifier: Apache-2.0
#include "daemon/reconciler.hpp"

#include <algorithm>
#include <utility>

#include "model/errnos.hpp"
#include "observe/shims.hpp"
#include "record/scope_tries.hpp"

namespace kcg {

namespace {

bool shim_outlives(const Record& record, Pid ended) {
  return std::any_of(record.trusted.begin(), record.trusted.end(), [&](const Trusted& trusted) {
    return trusted.role == ProcessRole::shim && trusted.key.pid != ended;
  });
}

}  // namespace

Reconciler::Reconciler(Loop& loop, const World& world, Config config)
    : node_(loop, world, std::move(config)) {
  node_.turns.set_look([this](const SandboxId& id, Due why) { passes_.pass(id, why); });
}

void Reconciler::hint(const Hint& hint) {
  switch (hint.kind) {
    case HintKind::bundle:
      return node_.bundle_written(hint.text);
    case HintKind::exec:
      return exec_hint(hint.pid);
    case HintKind::thread:
      return node_.stirred(hint);
    case HintKind::kata_state:
      return state_hint(hint.text);
    case HintKind::process_end:
      return end_hint(hint.text, hint.pid);
    case HintKind::group:
      return group_hint(hint.text, Changed::anything);
    case HintKind::population:
    case HintKind::made_group:
      return group_hint(hint.text, Changed::around);
    case HintKind::job:
      return job_hint(hint.text, hint.problem);
    case HintKind::rescan:
      node_.recent.distrust_groups();
      return resync_.rescan();
  }
}

void Reconciler::group_hint(const std::string& text, Changed what) {
  if (const auto id = SandboxId::parse(text)) node_.changed(*id, what);
}

/// State that Kata left behind names no sandbox that there is.
void Reconciler::state_hint(const std::string& text) {
  const auto id = SandboxId::parse(text);
  if (id && (node_.inputs.known(*id) || node_.sandboxes.find(*id) != nullptr))
    node_.state_written(*id);
}

/// Only units that a sandbox waits for are known here.
void Reconciler::job_hint(const std::string& unit, const std::string& problem) {
  const auto id = node_.sandboxes.answered(unit);
  auto* entry = id ? node_.sandboxes.find(*id) : nullptr;
  if (entry == nullptr) return;
  end_job(entry->record, unit, problem, node_.world.clock.now());
  node_.dirty(*id, Due::change);
}

void Reconciler::exec_hint(Pid pid) {
  auto& proc = node_.world.proc;
  proc.forget(pid);
  const auto stat = proc.stat(pid);
  if (!stat && !errnos::no_task(stat.error().code)) return resync_.rescan();
  if (!stat) return;
  if (shim_comm(stat->comm)) return shim_hint(pid);
  process_hint(node_.sandboxes.owner(pid) ? pid : stat->ppid, Due::placement);
}

/// A shim executed: its bundle may be so new that its own event is still on the way.
void Reconciler::shim_hint(Pid pid) {
  const auto claim = shims_claim(node_.world.proc, pid, [this](const std::string& directory) {
    if (!node_.inputs.sandbox_in(directory)) node_.read_bundle(directory);
    return node_.inputs.sandbox_in(directory);
  });
  if (!claim) return;
  if (!node_.inputs.known(claim->id)) node_.read_bundle(claim->directory);
  node_.read_unread(claim->id);  // its bundle may be that of another life
  // A bundle that is still being written tells nothing yet.
  const auto inputs = node_.inputs.inputs(claim->id).inputs;
  if (inputs.bundle && !may_be_shim(node_.world.proc, pid, inputs)) return;
  if (node_.add_candidate(claim->id, pid)) node_.shim_started(claim->id, pid);
}

/// A VMM ends before its shim does, which cleans up and follows: one look sees it all.
void Reconciler::end_hint(const std::string& text, Pid pid) {
  auto id = node_.sandboxes.owner(pid);
  if (!id) id = keeps_registered(text, pid);
  auto* entry = id ? node_.sandboxes.find(*id) : nullptr;
  if (entry == nullptr) return;
  if (!shim_outlives(entry->record, pid)) return node_.dirty(*id, Due::change);
  node_.rest(*entry, kShimFollows);
  node_.changed(*id);
}

/// An end that was seen is no news, but where nothing else has kept a registration.
std::optional<SandboxId> Reconciler::keeps_registered(const std::string& text, Pid pid) {
  const auto id = SandboxId::parse(text);
  const auto* entry = id ? node_.sandboxes.find(*id) : nullptr;
  if (entry == nullptr || !entry->over || !node_.registrations.names(*id, pid)) return std::nullopt;
  return *id;
}

/// Whose it was when it was looked at last: an end that was seen is no news.
void Reconciler::process_hint(Pid pid, Due why) {
  if (const auto id = node_.sandboxes.owner(pid)) node_.dirty(*id, why, Changed::no_group);
}

}  // namespace kcg
