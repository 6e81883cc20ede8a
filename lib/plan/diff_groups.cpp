// SPDX-License-Identifier: Apache-2.0
//
// diff(): groups, their files, and their removal.
#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "kernel/cpuset.hpp"
#include "kernel/limit_text.hpp"
#include "plan/diff_parts.hpp"
#include "plan/layout.hpp"
#include "plan/scope.hpp"
#include "plan/unit_properties.hpp"

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

Step& Steps::add(Op op, const GroupRef& group, GroupRole role) {
  Step& step = out_.emplace_back();
  step.op = op;
  step.group = group;
  step.role = role;
  return step;
}

void Steps::enable_foreign(bool created) {
  for (const auto& wanted : desired_.enables) {
    if (created_.contains(wanted.ref) != created) continue;
    if (!created && observed_.assumed && observed_.group(wanted.ref) == nullptr) continue;
    const auto* now = observed_.group(wanted.ref);
    const auto have = now == nullptr ? "" : now->file("cgroup.subtree_control").value_or("");
    for (const auto& controller : wanted.controllers) {
      if (has_word(have, controller)) continue;
      Step& step = add(Op::enable, wanted.ref, GroupRole::sandbox);
      step.key = "cgroup.subtree_control";
      step.old_value = have;
      step.new_value = "+" + controller;
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
    add(Op::create, *ref, group.role).key = "parent";
    created_.insert(*ref);
  }
}

void Steps::make(const WantedGroup& group) {
  const auto* now = observed_.group(group.ref);
  if (now == nullptr && !created_.contains(group.ref)) {
    if (group.make_parents) make_parents(group);
    add(Op::create, group.ref, group.role);
    created_.insert(group.ref);
  }
  // An adopted group becomes ours by the mark, like one that a crash left without it.
  const bool marked = now != nullptr && now->mark.has_value();
  if (!marked && !group.shared) {
    Step& step = add(Op::mark, group.ref, group.role);
    step.key = "user.kata-cgroupd";
    step.new_value = observed_.inputs.id.str();
  }
  const auto type = now == nullptr ? "domain" : now->file("cgroup.type").value_or("threaded");
  if (group.type == GroupType::threaded && type != "threaded") {
    Step& step = add(Op::enable, group.ref, group.role);
    step.key = "cgroup.type";
    step.old_value = type;
    step.new_value = "threaded";
  }
}

void Steps::set_file(const WantedGroup& group, Op op, const WantedFile& file,
                     const std::string& old) {
  if (old == file.value) return;
  // The files of a scope are systemd's to write, those below it ours.
  if (group.scope && (observed_.pending || as_systemd_writes(file, old))) return;
  Step& step = add(group.scope ? Op::set_scope : op, group.ref, group.role);
  step.key = file.key;
  step.old_value = old;
  step.new_value = file.value;
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
    WantedFile first = seed;
    if (child_has_more(group, seed, *new_set)) {
      first.value = old_set->united(*new_set).str();
      narrow_later_.push_back({&group, Op::seed, seed, first.value});
    }
    if (first.value != old_set->str()) set_file(group, Op::seed, first, old);
  }
}

/// The new ones first: in between the stricter of both rules holds. An attachment that allows only
/// one takes the old one's place.
void Steps::carry_devices(const WantedGroup& group) {
  static const DevicePolicy kNone;
  const auto* now = observed_.group(group.ref);
  const auto& have = now == nullptr ? kNone : now->devices;
  const auto& want = group.devices;
  if (want.programs.empty()) return;
  const auto change = [&](std::uint32_t program, bool attach) {
    Step& step = add(Op::device, group.ref, group.role);
    step.key = "device-program";
    (attach ? step.new_value : step.old_value) = std::to_string(program);
    step.device = DeviceChange{program, want.flags, attach};
  };
  for (const auto program : want.programs)
    if (!contains(have.programs, program)) change(program, true);
  if ((want.flags & kSeveralPrograms) == 0) return;
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
  set_file(group, Op::limit, {"memory.memsw.limit_in_bytes", limit.value}, *text);
}

void Steps::narrow() {
  for (auto it = narrow_later_.rbegin(); it != narrow_later_.rend(); ++it)
    set_file(*it->group, it->op, it->file, it->old);
}

void Steps::adjust(const WantedGroup& group) {
  const auto* now = observed_.group(group.ref);
  const auto have = now == nullptr ? "" : now->file("cgroup.subtree_control").value_or("");
  for (const auto& controller : group.subtree) {
    if (has_word(have, controller)) continue;
    Step& step = add(Op::enable, group.ref, group.role);
    step.key = "cgroup.subtree_control";
    step.old_value = have;
    step.new_value = "+" + controller;
  }
  set_cpuset(group);
  carry_devices(group);
  for (const auto& limit : group.limits) {
    const auto old = now == nullptr ? "" : now->file(limit.key).value_or("");
    if (limit.key == "memory.limit_in_bytes") raise_swap(group, limit);
    if (lowers_quota(limit, old))
      narrow_later_.push_back({&group, Op::limit, limit, old});
    else
      set_file(group, Op::limit, limit, old);
  }
}

/// What Kata may have made stays while Kata has state.
bool Steps::removed_by_others(const GroupRef& ref) const {
  if (left_to_systemd(observed_, ref)) return true;
  const bool katas =
      ref.path.name().starts_with("kata_") || ref.path.parent().str() == "/kata_overhead";
  return katas && observed_.inputs.kata.has_value();
}

void Steps::remove_unwanted() {
  std::set<GroupRef> wanted;
  for (const auto& group : desired_.groups) wanted.insert(group.ref);
  std::vector<const GroupState*> doomed;
  for (const auto& [ref, state] : observed_.groups) {
    const bool ours = state.mark && *state.mark == observed_.inputs.id.str();
    if (ours && !ref.path.is_root() && !removed_by_others(ref) && !wanted.contains(ref))
      doomed.push_back(&state);
  }
  std::sort(doomed.begin(), doomed.end(), [](const GroupState* a, const GroupState* b) {
    const auto depth = [](const GroupState* g) {
      return std::count(g->ref.path.str().begin(), g->ref.path.str().end(), '/');
    };
    return depth(a) != depth(b) ? depth(a) > depth(b) : a->ref < b->ref;
  });
  for (const auto* group : doomed) add(Op::remove, group->ref, GroupRole::sandbox);
}

}  // namespace kcg::steps
