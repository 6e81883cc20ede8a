// SPDX-License-Identifier: Apache-2.0
#include "plan/release.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "kernel/limit_text.hpp"
#include "layout/layout.hpp"
#include "layout/scope.hpp"
#include "model/kata_groups.hpp"

namespace kcg {

namespace {

/// Value: a file of a group of ours, and what lifts it. Weights and CPUs limit nobody in a group
/// that goes; a scope goes on without us.
struct Lift {
  const char* key;
  const char* unlimited;
  bool of_scope = false;  ///< only there
};
constexpr std::array kLiftsV2 = {Lift{"memory.max", "max"}, Lift{"cpu.max", "max 100000"},
                                 Lift{"cpu.weight", "100", true}, Lift{"cpuset.cpus", "", true}};
constexpr std::array kLiftsV1 = {Lift{"memory.memsw.limit_in_bytes", "-1"},
                                 Lift{"memory.limit_in_bytes", "-1"},
                                 Lift{"cpu.cfs_quota_us", "-1"}, Lift{"cpu.shares", "1024", true}};

bool is_lifted(const std::string& text, const Lift& lift) {
  const std::string_view unlimited = lift.unlimited;
  if (text == unlimited) return true;
  if (unlimited.starts_with("max")) return text.starts_with("max");
  const auto number = parse_u64(text);  // v1 shows -1 bytes as a very large number
  return unlimited == "-1" && number && *number >= kUnlimitedMemory;
}

std::ptrdiff_t depth(const GroupRef& ref) {
  const auto path = ref.path.str();
  return std::count(path.begin(), path.end(), '/');
}

/// One hierarchy of the sandbox.
class Releaser final {
 public:
  Releaser(const HeldSandbox& held, std::size_t index, ReleasePlan& out)
      : held_(held),
        observed_(held.observed),
        index_(index),
        h_(observed_.host.hierarchies[index]),
        out_(out) {
    for (const auto& [ref, state] : observed_.groups)
      if (ref.hierarchy == h_.name && !ref.path.is_root() &&
          state.mark == observed_.inputs.id.str())
        ours_.push_back(&state);
    std::sort(ours_.begin(), ours_.end(), [](const GroupState* a, const GroupState* b) {
      return depth(a->ref) != depth(b->ref) ? depth(a->ref) > depth(b->ref) : a->ref < b->ref;
    });
    if (observed_.cgroups_path) katas_ = kata_paths(observed_.inputs.id, *observed_.cgroups_path);
  }

  void plan() {
    const bool inhabited = std::any_of(observed_.processes.begin(), observed_.processes.end(),
                                       [this](const Process& process) { return with_us(process); });
    if (inhabited && !choose()) return;
    const auto before = out_.plan.steps.size();
    for (const auto* group : ours_) lift(*group);
    if (inhabited) {
      take_controllers_back();
      make_katas_group();
      for (const auto& process : observed_.processes) move(process);
    }
    for (const auto* group : ours_)
      if (!outlives_us(group->ref)) add(group->ref, op::Remove{});
    // What outlives us is ours until everything else is done: the mark tells where we were.
    if (out_.plan.steps.size() != before) return;
    for (const auto* group : ours_) add(group->ref, op::Unmark{observed_.inputs.id.str()});
  }

 private:
  void add(const GroupRef& group, Operation operation) {
    out_.plan.steps.push_back({group, std::move(operation)});
  }

  /// A directory of Kata's that we used, and that Kata removes.
  [[nodiscard]] bool is_katas(const CgroupPath& path) const {
    return observed_.inputs.kata && std::find(katas_.begin(), katas_.end(), path) != katas_.end();
  }
  [[nodiscard]] bool outlives_us(const GroupRef& ref) const {
    return is_katas(ref.path) || is_unit(observed_.host, ref);
  }
  [[nodiscard]] bool goes(const CgroupPath& path) const {
    return std::any_of(ours_.begin(), ours_.end(), [&](const GroupState* group) {
      return group->ref.path == path && !outlives_us(group->ref);
    });
  }
  [[nodiscard]] const GroupState* at(const CgroupPath& path) const {
    return observed_.group({h_.name, path});
  }
  [[nodiscard]] static std::string controllers(const GroupState& group) {
    return group.file(op::Enable::kFile).value_or("");
  }
  /// One of ours stands below it.
  [[nodiscard]] bool holds_ours(const CgroupPath& path) const {
    return std::any_of(ours_.begin(), ours_.end(), [&](const GroupState* group) {
      return group->ref.path != path && group->ref.path.within(path);
    });
  }
  /// The scope of ours in this hierarchy.
  [[nodiscard]] std::optional<CgroupPath> own_scope() const {
    for (const auto* group : ours_)
      if (is_unit(observed_.host, group->ref)) return group->ref.path;
    return std::nullopt;
  }

  /// True for an existing group in which processes can be, or can be when our controllers have been
  /// taken back.
  [[nodiscard]] bool takes_processes(const CgroupPath& path) const {
    const auto* group = at(path);
    if (group == nullptr || goes(path)) return false;
    if (h_.unified) return path.is_root() || controllers(*group).empty() || holds_ours(path);
    return !h_.has("cpuset") || !group->file("cpuset.cpus").value_or("").empty();
  }

  /// Kata's own group, by what it is for: with sandbox_cgroup_only=false there are two.
  [[nodiscard]] std::optional<CgroupPath> katas_group(bool overhead) const {
    for (auto path = katas_.rbegin(); path != katas_.rend(); ++path) {
      const bool is_overhead = path->parent().str() == kKataOverheadRoot;
      if (is_overhead == overhead && takes_processes(*path)) return *path;
    }
    return std::nullopt;
  }

  /// The nearest existing group above; v1 lets processes sit anywhere.
  [[nodiscard]] std::optional<CgroupPath> above() const {
    auto path =
        observed_.cgroups_path ? observed_.cgroups_path->pod : ours_.back()->ref.path.parent();
    if (h_.unified)
      return takes_processes(path) && !holds_controllers(path) ? std::optional(path) : std::nullopt;
    while (!path.is_root() && !takes_processes(path)) path = path.parent();
    return path;
  }
  [[nodiscard]] bool holds_controllers(const CgroupPath& path) const {
    const auto* group = at(path);
    return group != nullptr && !controllers(*group).empty();
  }

  /// Where everybody goes. False: nowhere.
  bool choose() {
    const auto scope = own_scope();
    const auto overhead = katas_group(true);
    const auto own = katas_group(false);
    if (scope && !h_.unified) {
      // In systemd's own tree, which is not ours to write, they are in it, too.
      rest_ = vcpus_ = *scope;
    } else if (overhead || own) {
      rest_ = overhead ? *overhead : *own;
      vcpus_ = !h_.unified && h_.splits_threads() && own ? *own : rest_;
    } else if (scope) {
      rest_ = vcpus_ = *scope;
    } else if (const auto parent = above()) {
      rest_ = vcpus_ = *parent;
    } else if (const auto made = to_be_made()) {
      rest_ = vcpus_ = *made;
      make_ = true;
    } else {
      return nowhere();
    }
    if (!holds_ours(rest_) || !holds_controllers(rest_) || held_.beside.empty()) return true;
    out_.problems.push_back(fmt::format(
        "'{}:{}' holds groups that are not ours ({}), so its controllers cannot be taken back, and "
        "it takes no process: remove these groups, or let the sandbox end as it is",
        h_.name.str(), rest_.str(), join(held_.beside, ", ")));
    return false;
  }

  /// Below a pod's group with controllers only a group without them takes processes.
  [[nodiscard]] std::optional<CgroupPath> to_be_made() const {
    const auto& path = observed_.cgroups_path;
    if (!path || path->driver != Driver::cgroupfs || at(katas_.front()) != nullptr)
      return std::nullopt;
    if (at(katas_.front().parent()) == nullptr) return std::nullopt;
    for (const auto* group : ours_)
      if (!group->devices.unreadable.empty()) return std::nullopt;
    return katas_.front();
  }

  bool nowhere() {
    const auto where =
        katas_.empty() ? "a group of Kata's" : fmt::format("'{}'", katas_.front().str());
    out_.problems.push_back(fmt::format(
        "'{}:{}': its processes cannot be given back, for {} does not exist or takes no process, "
        "nor does the group above; they stay here until the sandbox ends, or make {} and try again",
        h_.name.str(), ours_.back()->ref.path.str(), where, where));
    return false;
  }

  void lift(const GroupState& group) {
    if (is_katas(group.ref.path)) return;  // Kata writes there, too, and goes on doing so
    const bool scope = is_unit(observed_.host, group.ref);
    const auto one = [&](const Lift& lift) {
      const auto text = group.file(lift.key);
      if (!text || (lift.of_scope && !scope) || is_lifted(*text, lift)) return;
      const op::Change change{lift.key, *text, lift.unlimited};
      add(group.ref, scope ? Operation(op::SetScope{change}) : op::Limit{change});
    };
    for (const auto& lift : h_.unified ? kLiftsV2 : kLiftsV1) one(lift);
  }

  /// A group with controllers takes no process; those below let go of them first.
  void take_controllers_back() {
    if (!h_.unified || !holds_ours(rest_) || !holds_controllers(rest_)) return;
    for (const auto* group : ours_) disable(*group);
    disable(*at(rest_));
  }
  void disable(const GroupState& group) {
    op::Disable step;
    const auto enabled = controllers(group);
    for (const auto word : words(enabled)) step.controllers.emplace_back(word);
    if (!step.controllers.empty()) add(group.ref, std::move(step));
  }

  /// With the device rules that it had: ours carry them.
  void make_katas_group() {
    if (!make_) return;
    const GroupRef made{h_.name, rest_};
    add(made, op::Create{});
    for (const auto program : ours_.back()->devices.programs)
      add(made, op::Device{{program, ours_.back()->devices.flags, true}});
  }

  /// A vCPU that Kata holds in a group of its own is where it belongs.
  [[nodiscard]] bool with_us(const Thread& thread) const {
    const auto& groups = thread.facts.groups;
    return index_ < groups.size() && std::any_of(
                                         ours_.begin(), ours_.end(),
                                         [&](const GroupState* group) {
                                           return group->ref.path.str() == groups[index_] &&
                                                  !is_katas(group->ref.path);
                                         });
  }
  [[nodiscard]] bool with_us(const Process& process) const {
    return std::any_of(process.threads.begin(), process.threads.end(),
                       [this](const Thread& thread) { return with_us(thread); });
  }

  void move(const Process& process) {
    const auto leaves = [&](const Thread& thread) {
      return with_us(thread) && thread.facts.groups[index_] != target(thread.cls).str();
    };
    const bool together =
        std::all_of(process.threads.begin(), process.threads.end(), [&](const Thread& thread) {
          return target(thread.cls) == target(process.threads.front().cls);
        });
    for (const auto& thread : process.threads) {
      if (!leaves(thread)) continue;
      const GroupRef to{h_.name, target(thread.cls)};
      const op::Move move{together ? process.facts.key : thread.facts.key, thread.cls,
                          thread.facts.groups[index_]};
      if (together) return add(to, op::MoveProcess{move});
      add(to, op::MoveThread{move, process.facts.key.pid, true});
    }
  }
  [[nodiscard]] const CgroupPath& target(ThreadClass cls) const {
    return cls == ThreadClass::vcpu ? vcpus_ : rest_;
  }

  const HeldSandbox& held_;
  const Observed& observed_;
  std::size_t index_;
  const Hierarchy& h_;
  ReleasePlan& out_;
  std::vector<const GroupState*> ours_;  ///< deepest first
  std::vector<CgroupPath> katas_;        ///< where Kata makes its own
  CgroupPath rest_, vcpus_;
  bool make_ = false;
};

}  // namespace

ReleasePlan release_plan(const HeldSandbox& held) {
  ReleasePlan release;
  release.problems = held.observed.unread_groups;
  if (!release.problems.empty()) return release;
  for (std::size_t i = 0; i < held.observed.host.hierarchies.size(); ++i)
    Releaser(held, i, release).plan();
  return release;
}

}  // namespace kcg
