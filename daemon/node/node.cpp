// SPDX-License-Identifier: Apache-2.0
#include "daemon/node/node.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "observe/bundle_dirs.hpp"

namespace kcg {

namespace {

/// Processes that call themselves the shim of one sandbox; more of them are nobody's.
constexpr std::size_t kMostCandidates = 16;

}  // namespace

Node::Node(Loop& loop, const World& the_world, Config the_config)
    : world(the_world),
      config(std::move(the_config)),
      inputs(config, world.clock),
      registrations(world.store, world.proc, world.tree.host(),
                    [this](Pid pid) { return sandboxes.owner(pid); }),
      turns(loop, world.clock, world.log, scheduler),
      overheads(world.store, world.clock, world.log, turns),
      chronicle(world.store, world.clock, world.log, turns, overheads),
      announcer(world.log, world.clock, chronicle) {}

void Node::dirty(const SandboxId& id, Due why, Changed what) {
  if (auto* entry = sandboxes.find(id)) {
    entry->look_due = true;
    note(*entry, what);
  }
  enqueue(id, why);
}

void Node::note(Entry& entry, Changed what) {
  entry.groups_told = entry.groups_told || what == Changed::anything;
  entry.around_told = entry.around_told || what == Changed::around;
}

void Node::changed(const SandboxId& id, Changed what) {
  auto* entry = sandboxes.find(id);
  const auto now = world.clock.now();
  if (entry == nullptr || entry->rests_until <= now) return dirty(id, Due::change, what);
  note(*entry, what);
  entry->heard = entry->heard.value_or(now);
  if (entry->change_due) return;
  entry->change_due = turns.after(entry->rests_until, [this, id] {
    auto* waits = sandboxes.find(id);
    if (waits == nullptr) return;
    waits->change_due.reset();
    dirty(id, Due::change, Changed::no_group);  // else it has been noted
  });
}

void Node::shim_started(const SandboxId& id, Pid shim) {
  auto& entry = sandboxes.get(id);
  const bool told = follower != nullptr && follower->told(id).threads;
  if (!told || std::exchange(entry.followed, true))
    return dirty(id, Due::placement, Changed::no_group);
  sandboxes.own(id, entry, shim);
  follower->expect_vmm(id, shim);
  forget_change(entry);
  rest(entry, kRestBeforeVmm);
  changed(id, Changed::no_group);
}

void Node::forget_change(Entry& entry) {
  if (const auto due = std::exchange(entry.change_due, std::nullopt)) turns.cancel(*due);
}

void Node::rest(Entry& entry, Instant rest) const {
  if (follower != nullptr) entry.rests_until = world.clock.now() + rest;
}

void Node::stirred(const Hint& hint) {
  const auto owner = sandboxes.owner(hint.pid);
  auto* entry = owner ? sandboxes.find(*owner) : nullptr;
  if (entry == nullptr || (entry->change_due && entry->record.trusted.empty())) return;
  const auto& glance = entry->glance;
  const bool seen = glance && hint.at < glance->seen_since(hint.pid);
  if (seen || (glance && !glance->cares_for_threads_of(hint.pid))) return;
  entry->stirred[hint.pid].add(hint.tids);
  enqueue(*owner, glance && glance->confirm_at ? Due::placement : Due::event);
}

void Node::enqueue(const SandboxId& id, Due why) {
  if (!looked && why != Due::placement) return;
  const auto now = world.clock.now();
  if (auto* entry = sandboxes.find(id)) {
    entry->news = std::min(entry->news.value_or(why), why);
    entry->heard = entry->heard.value_or(now);
  }
  scheduler.due(id, why, now);
  turns.arm();
}

void Node::state_written(const SandboxId& id) {
  if (auto* files = unread_while_resting(id))
    files->state = true;
  else
    absorb(inputs.state_changed(id));
}

void Node::bundle_written(const std::string& directory) {
  const auto owner = inputs.sandbox_in(directory);
  if (auto* files = owner ? unread_while_resting(*owner) : nullptr)
    files->bundles.insert(directory);
  else
    read_bundle(directory);
}

void Node::read_bundle(const std::string& directory) {
  const auto origin = bundle_origin(config.discovery, directory);
  if (!origin) return;
  const auto change = inputs.bundle_changed(*origin);
  if (inputs.full())
    world.log.limited(LogLevel::warning, origin->id, "full",
                      "too many bundles: new ones are not looked at; raise [limits] max_sandboxes");
  absorb(change);
}

UnreadFiles* Node::unread_while_resting(const SandboxId& id) {
  auto* entry = sandboxes.find(id);
  if (entry == nullptr || entry->rests_until <= world.clock.now()) return nullptr;
  if (!entry->unread_files) {
    entry->unread_files = std::make_unique<UnreadFiles>();
    entry->unread_files->due = turns.after(entry->rests_until, [this, id] { read_unread(id); });
  }
  return entry->unread_files.get();
}

void Node::read_unread(const SandboxId& id) {
  auto* entry = sandboxes.find(id);
  const auto files = entry == nullptr ? nullptr : std::move(entry->unread_files);
  if (!files) return;
  turns.cancel(files->due);
  if (files->state) absorb(inputs.state_changed(id));
  for (const auto& directory : files->bundles) read_bundle(directory);
}

/// A new bundle's shim executes in a moment.
void Node::absorb(const InputChange& change) {
  for (const auto& id : change.sandboxes) {
    if (looked && sandboxes.find(id) == nullptr) rest(sandboxes.get(id), kRestBeforeVmm);
    if (!still_wanted(id)) changed(id, Changed::no_group);
  }
  read_later();
}

/// Where a look is to come anyway it is not worth its price to ask.
bool Node::still_wanted(const SandboxId& id) {
  auto* entry = sandboxes.find(id);
  auto* last = recent.find(id);
  if (entry == nullptr || last == nullptr || entry->look_due || entry->change_due) return false;
  return kcg::still_wanted(config, inputs.inputs(id), *last, entry->record);
}

void Node::read_later() {
  const auto at = inputs.read_at();
  if (!at || (reading_at_ && *reading_at_ <= *at)) return;
  reading_at_ = at;
  turns.after(*at, [this, at] {
    if (reading_at_ != at) return;  // an earlier time took its place
    reading_at_.reset();
    absorb(inputs.read_again());
  });
}

bool Node::add_candidate(const SandboxId& id, Pid pid) {
  if (!inputs.known(id)) return false;
  auto& candidates = sandboxes.get(id).record.shim_candidates;
  candidates.insert(pid);
  if (candidates.size() > kMostCandidates) candidates.erase(candidates.begin());
  return true;
}

}  // namespace kcg
