// SPDX-License-Identifier: Apache-2.0
#include "daemon/node/sandboxes.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "daemon/manager.hpp"

namespace kcg {

Entry* Sandboxes::find(const SandboxId& id) {
  const auto it = entries_.find(id);
  return it == entries_.end() ? nullptr : &it->second;
}

const Entry* Sandboxes::find(const SandboxId& id) const {
  const auto it = entries_.find(id);
  return it == entries_.end() ? nullptr : &it->second;
}

std::vector<SandboxId> Sandboxes::published() const {
  std::vector<SandboxId> ids;
  for (const auto& [id, entry] : entries_)
    if (entry.published) ids.push_back(id);
  return ids;
}

std::vector<Pid> Sandboxes::drop(const SandboxId& id) {
  const auto it = entries_.find(id);
  if (it == entries_.end()) return {};
  std::erase_if(units_, [&](const auto& unit) { return unit.second == id; });
  it->second.record.trusted = {};
  auto pids = index(id, it->second);
  entries_.erase(it);
  return pids;
}

Result<SandboxId> Sandboxes::resolve(const std::string& text) const {
  auto exact = SandboxId::parse(text);
  if (const auto* entry = exact ? find(*exact) : nullptr; entry != nullptr && entry->published)
    return std::move(*exact);
  return only_one(published(), text);
}

Result<SandboxId> only_one(std::vector<SandboxId> ids, const std::string& text) {
  std::erase_if(ids, [&](const SandboxId& id) { return !id.str().starts_with(text); });
  if (text.size() < kShortestPrefix || ids.empty())
    return fail(static_cast<int>(ManagerError::no_such_sandbox),
                "no sandbox '{}': give a full id or at least {} characters of one", escaped(text),
                kShortestPrefix);
  if (ids.size() > 1)
    return fail(static_cast<int>(ManagerError::ambiguous_id),
                "'{}' is ambiguous: {} and {} others match", escaped(text), ids.front().str(),
                ids.size() - 1);
  return std::move(ids.front());
}

std::optional<SandboxId> Sandboxes::owner(Pid pid) const {
  const auto it = owner_.find(pid);
  return it == owner_.end() ? std::nullopt : std::optional(it->second);
}

void Sandboxes::own(const SandboxId& id, Entry& entry, Pid pid) {
  if (owner_.try_emplace(pid, id).second) entry.owned.push_back(pid);
}

std::vector<Pid> Sandboxes::index(const SandboxId& id, Entry& entry) {
  auto lost = std::exchange(entry.owned, {});
  for (const Pid pid : lost)
    if (owner(pid) == id) owner_.erase(pid);
  for (const auto& trusted : entry.record.trusted) {
    owner_.insert_or_assign(trusted.key.pid, id);
    entry.owned.push_back(trusted.key.pid);
    std::erase(lost, trusted.key.pid);
  }
  return lost;
}

void Sandboxes::await_unit(const std::string& unit, const SandboxId& id) {
  units_.insert_or_assign(unit, id);
}

std::optional<SandboxId> Sandboxes::answered(const std::string& unit) {
  auto waited = units_.extract(unit);
  return waited.empty() ? std::nullopt : std::optional(std::move(waited.mapped()));
}

}  // namespace kcg
