// SPDX-License-Identifier: Apache-2.0
//
// diff(): groups, their files, and their removal.
#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "kernel/cpuset.hpp"
#include "kernel/limit_text.hpp"
#include "kernel/unit_properties.hpp"
#include "layout/layout.hpp"
#include "layout/scope.hpp"
#include "model/kata_groups.hpp"
#include "model/mark.hpp"
#include "plan/diff_parts.hpp"

namespace kcg::steps {

namespace {

bool has_word(const std::string& text, std::string_view word) {
  const auto all = words(text);
  return std::find(all.begin(), all.end(), word) != all.end();
}

bool contains(const std::vector<std::uint32_t>& list, std::uint32_t item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// v1 refuses a parent that is promised less than its child: such a parent follows its children.
bool lowers_quota(const WantedFile& limit, const std::string& old) {
  if (limit.key != "cpu.cfs_quota_us") return false;
  const auto before = parse_i64(old);
  const auto after = parse_i64(limit.value);
  return before && after && *after > 0 && (*before < 0 || *after < *before);
}

}  // namespace

void Steps::add(const GroupRef& group, Operation operation) {
  out_.push_back({group, std::move(operation)});
}

void Steps::enable_foreign(bool created) {
  for (const auto& wanted : desired_.enables) {
    if (created_.contains(wanted.ref) != created) continue;
    if (!created && observed_.assumed && observed_.group(wanted.ref) == nullptr) continue;
    const auto* now = observed_.group(wanted.ref);
    const auto have = now == nullptr ? "" : now->file("cgroup.subtree_control").value_or("");
    for (const auto& controller : wanted.controllers) {
      if (has_word(have, controller)) continue;
      add(wanted.ref, op::Enable{controller, have});
    }
  }
}

void Steps::make_parents(const WantedGroup& group) {
  std::vector<GroupRef> missing;
  for (auto path = group.ref.path.parent(); !path.is_root(); path = path.parent()) {
    const GroupRef ref{group.ref.hierarchy, path};
    if (observed_.group(ref) != nullptr || created_.contains(ref)) break;
    missing.push_back(ref);
  }
  for (auto ref = missing.rbegin(); ref != missing.rend(); ++ref) {
    add(*ref, op::Create{true});
    created_.insert(*ref);
  }
}

void Steps::make(const WantedGroup& group) {
  const auto* now = observed_.group(group.ref);
  if (now == nullptr && !created_.contains(group.ref)) {
    if (group.make_parents) make_parents(group);
    add(group.ref, op::Create{});
    created_.insert(group.ref);
  }
  // A group of Kata's becomes ours by the mark, like one that a crash left without it.
  const bool marked = now != nullptr && now->mark.has_value() && !now->mark_earlier;
  if (!marked && !group.shared) add(group.ref, op::Mark{observed_.inputs.id.str()});
  const auto type = now == nullptr ? "domain" : now->file("cgroup.type").value_or("threaded");
  if (group.type == GroupType::threaded && type != "threaded")
    add(group.ref, op::MakeThreaded{type});
}

void Steps::set_file(const WantedGroup& group, const op::Change& change) {
  const auto& old = change.old_value;
  if (old == change.new_value) return;
  if (!group.scope) {
    const bool cpus = change.key.starts_with("cpuset.");
    return add(group.ref, cpus ? Operation(op::Seed{change}) : op::Limit{change});
  }
  // The files of a scope are systemd's to write, those below it ours.
  if (!observed_.pending && !as_systemd_writes({change.key, change.new_value}, old))
    add(group.ref, op::SetScope{change});
}

bool Steps::child_has_more(const WantedGroup& group, const WantedFile& file,
                           const CpuSet& final_set) const {
  return std::any_of(desired_.groups.begin(), desired_.groups.end(), [&](const WantedGroup& other) {
    if (other.ref.hierarchy != group.ref.hierarchy || other.ref == group.ref) return false;
    const auto* child = observed_.group(other.ref);
    if (child == nullptr || !other.ref.path.within(group.ref.path)) return false;
    const auto set = CpuSet::parse(child->file(file.key).value_or(""));
    return set && set->united(final_set) != final_set;
  });
}

/// v1 refuses a parent that loses what a child still has: such a parent is widened to the union
/// here, and narrowed when its children have followed.
void Steps::set_cpuset(const WantedGroup& group) {
  const auto* now = observed_.group(group.ref);
  for (const auto& seed : group.seeds) {
    const auto old = now == nullptr ? "" : now->file(seed.key).value_or("");
    const auto old_set = CpuSet::parse(old);
    const auto new_set = CpuSet::parse(seed.value);
    if (!old_set || !new_set || *old_set == *new_set) continue;
    auto first = seed.value;
    if (child_has_more(group, seed, *new_set)) {
      first = old_set->united(*new_set).str();
      narrow_later_.push_back({&group, {seed.key, first, seed.value}});
    }
    if (first != old_set->str()) set_file(group, {seed.key, old, first});
  }
}

/// The new ones first: in between the stricter of both rules holds. An attachment that allows only
/// one takes the old one's place. A group of Kata's that is gone, or whose rules cannot be seen,
/// says nothing; one that has none any more says that there are none.
void Steps::carry_devices(const WantedGroup& group) {
  if (!group.devices || !group.devices->unreadable.empty()) return;
  const auto& want = *group.devices;
  const auto* now = observed_.group(group.ref);
  const auto have = now == nullptr ? DevicePolicy{} : now->devices;
  const auto change = [&](std::uint32_t program, bool attach) {
    add(group.ref, op::Device{{program, attach ? want.flags : have.flags, attach}});
  };
  for (const auto program : want.programs)
    if (!contains(have.programs, program)) change(program, true);
  const bool replaced = !want.programs.empty() && (want.flags & kSeveralPrograms) == 0;
  if (replaced) return;
  for (const auto program : have.programs)
    if (!contains(want.programs, program)) change(program, false);
}

/// v1 refuses more memory than memory and swap together may be: where somebody has limited that
/// sum, it goes ahead.
void Steps::raise_swap(const WantedGroup& group, const WantedFile& limit) {
  const auto* now = observed_.group(group.ref);
  const auto text = now == nullptr ? std::nullopt : now->file("memory.memsw.limit_in_bytes");
  const auto have = text ? parse_u64(*text) : std::nullopt;
  if (!have || *have >= parse_u64(limit.value).value_or(kUnlimitedMemory)) return;
  set_file(group, {"memory.memsw.limit_in_bytes", *text, limit.value});
}

void Steps::narrow() {
  for (auto it = narrow_later_.rbegin(); it != narrow_later_.rend(); ++it)
    set_file(*it->group, it->change);
}

void Steps::adjust(const WantedGroup& group) {
  const auto* now = observed_.group(group.ref);
  const auto have = now == nullptr ? "" : now->file("cgroup.subtree_control").value_or("");
  for (const auto& controller : group.subtree) {
    if (!has_word(have, controller)) add(group.ref, op::Enable{controller, have});
  }
  set_cpuset(group);
  carry_devices(group);
  for (const auto& limit : group.limits) {
    const auto old = now == nullptr ? "" : now->file(limit.key).value_or("");
    if (limit.key == "memory.limit_in_bytes") raise_swap(group, limit);
    if (lowers_quota(limit, old))
      narrow_later_.push_back({&group, {limit.key, old, limit.value}});
    else
      set_file(group, {limit.key, old, limit.value});
  }
}

/// What Kata may have made stays while Kata has state.
bool Steps::removed_by_others(const GroupRef& ref) const {
  if (left_to_systemd(observed_, ref)) return true;
  const bool katas =
      ref.path.name().starts_with("kata_") || ref.path.parent().str() == kKataOverheadRoot;
  return katas && observed_.inputs.kata.has_value();
}

void Steps::remove_unwanted() {
  const auto wanted = [this](const GroupRef& ref) {  // itself, or for what stands below it
    return std::any_of(desired_.groups.begin(), desired_.groups.end(), [&](const WantedGroup& one) {
      return one.ref.hierarchy == ref.hierarchy && one.ref.path.within(ref.path);
    });
  };
  // From the last one on: whatever stands below a group comes behind it.
  for (auto it = observed_.groups.rbegin(); it != observed_.groups.rend(); ++it) {
    const auto& [ref, state] = *it;
    const auto& id = observed_.inputs.id;
    // A crash may have come between the two. rmdir(2) takes no group that anybody is in.
    const bool unmarked =
        observed_.gone && observed_.creation_recorded && !state.mark && only_ours(id, ref.path);
    const bool ours = unmarked || (state.mark && *state.mark == id.str());
    if (ours && !ref.path.is_root() && !wanted(ref) && !removed_by_others(ref))
      add(ref, op::Remove{});
  }
}

}  // namespace kcg::steps
