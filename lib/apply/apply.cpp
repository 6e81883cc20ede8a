// SPDX-License-Identifier: Apache-2.0
#include "apply/apply.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "model/errnos.hpp"

namespace kcg {

namespace {

static_assert(errnos::kNotThere == ENOENT && errnos::kNoTask == ESRCH && errnos::kBusy == EBUSY &&
              errnos::kNoDevice == ENODEV && errnos::kNotDirectory == ENOTDIR &&
              errnos::kInvalid == EINVAL && errnos::kUnsupported == EOPNOTSUPP);

/// So many steps are performed before somebody is asked whether that is enough.
constexpr std::size_t kPortion = 64;

/// The moves at the beginning of `steps` that concern the same task.
std::span<const Step> moves_of_one(std::span<const Step> steps) {
  const auto* first = move_of(steps.front());
  if (first == nullptr) return {};
  const auto end = std::ranges::find_if(steps, [&](const Step& step) {
    const auto* move = move_of(step);
    return move == nullptr || move->task != first->task;
  });
  return {steps.begin(), end};
}

/// Performs steps and remembers which branches have ended.
class Applier final {
 public:
  Applier(CgroupTree& tree, ProcView& proc, SystemdManager* systemd)
      : tree_(tree), proc_(proc), systemd_(systemd) {}

  StepResult run(const Step& step) {
    if (ended(step.group)) return skipped_here(step);
    StepResult result;
    result.step = step;
    note(act(step), result);
    if (result.outcome == Outcome::done && by_systemd(step)) result.outcome = Outcome::pending;
    if (result.outcome == Outcome::failed && ends_branch(step)) ended_.push_back(step.group);
    return result;
  }

  /// One task, in each hierarchy: that it still is the one that was looked at is seen before the
  /// first write and after the last.
  std::vector<StepResult> move(std::span<const Step> moves) {
    std::vector<StepResult> results;
    std::vector<std::size_t> done;
    bool seen = false;
    for (const auto& step : moves) {
      if (ended(step.group)) {
        results.push_back(skipped_here(step));
        continue;
      }
      auto& result = results.emplace_back();
      result.step = step;
      if (!seen && !is_same(step)) {
        note(fail(ESRCH, "task {} has ended", move_of(step)->task.pid), result);
        continue;
      }
      note(act(step), result);
      seen = result.outcome == Outcome::done;
      if (seen) done.push_back(results.size() - 1);
    }
    if (!done.empty()) return_stranger(results, done);
    return results;
  }

 private:
  static void note(const Status& status, StepResult& result) {
    if (status) return;
    result.outcome = Outcome::failed;
    result.code = status.error().code;
    result.text = status.error().text;
  }

  /// Without these steps the group cannot be used.
  [[nodiscard]] bool ends_branch(const Step& step) const {
    if (is<op::Seed>(step)) return !unified(step.group);  // v1: an empty cpuset takes nobody in
    return is<op::Create>(step) || is<op::Mark>(step) || is<op::Device>(step) ||
           is<op::StartScope>(step) || is<op::MakeThreaded>(step);
  }

  [[nodiscard]] bool unified(const GroupRef& group) const {
    const auto* hierarchy = tree_.host().find(group.hierarchy);
    return hierarchy != nullptr && hierarchy->unified;
  }

  [[nodiscard]] bool ended(const GroupRef& group) const {
    return std::any_of(ended_.begin(), ended_.end(), [&](const GroupRef& branch) {
      return branch.hierarchy == group.hierarchy && group.path.within(branch.path);
    });
  }

  Status act(const Step& step) {
    return std::visit([&](const auto& one) { return act(step.group, one); }, step.operation);
  }
  Status act(const GroupRef& group, const op::Create& /*one*/) { return tree_.make(group); }
  Status act(const GroupRef& group, const op::Mark& one) { return tree_.set_mark(group, one.id); }
  Status act(const GroupRef& group, const op::Enable& one) {
    return tree_.write(group, op::Enable::kFile, fmt::format("+{}", one.controller));
  }
  Status act(const GroupRef& group, const op::MakeThreaded& /*one*/) {
    return tree_.write(group, op::MakeThreaded::kFile, op::MakeThreaded::kType);
  }
  Status act(const GroupRef& group, const op::Change& one) {
    return tree_.write(group, one.key, one.new_value);
  }
  Status act(const GroupRef& group, const op::Device& one) {
    return tree_.change_devices(group, one.change);
  }
  Status act(const GroupRef& group, const op::Remove& /*one*/) { return tree_.remove(group); }
  Status act(const GroupRef& group, const op::Disable& one) {
    return tree_.write(group, op::Enable::kFile, text_of(one));
  }
  Status act(const GroupRef& group, const op::Unmark& /*one*/) { return tree_.clear_mark(group); }
  Status act(const GroupRef& group, const op::StartScope& one) {
    const auto unit = unit_of(group);
    if (systemd_ == nullptr) return no_systemd(unit);
    if (!one.first) return fail(EINVAL, "{}: systemd makes no scope without a process", unit);
    return systemd_->start_scope({unit, slice_of(group), *one.first, one.limits});
  }
  Status act(const GroupRef& group, const op::SetScope& one) {
    if (systemd_ == nullptr) return no_systemd(one.key);
    return systemd_->set_limits(unit_of(group), {{one.key, one.new_value}});
  }

  Status act(const GroupRef& group, const op::MoveProcess& one) { return attach(group, one); }
  Status act(const GroupRef& group, const op::MoveThread& one) { return attach(group, one); }
  template <class Move>
  Status attach(const GroupRef& group, const Move& one) {
    return tree_.write(group, std::string(file_of(one)), std::to_string(one.task.pid));
  }

  static StepResult skipped_here(const Step& step) {
    return skipped(step, "an earlier step for this group failed");
  }

  static Status no_systemd(const std::string& what) {
    return fail(ENOTCONN, "{}: systemd's manager is not reached; see [systemd] address", what);
  }

  [[nodiscard]] Result<TaskStat> stat_of(const Step& step) {
    const Pid pid = move_of(step)->task.pid;
    const auto* thread = as<op::MoveThread>(step);
    return thread == nullptr ? proc_.stat(pid) : proc_.thread_stat(thread->process, pid);
  }

  [[nodiscard]] bool is_same(const Step& step) {
    const auto now = stat_of(step);
    return now && now->key == move_of(step)->task;
  }

  /// The pid was reused between the look and the last of the writes that were `done`: whoever has
  /// it now goes from where we put it to its parent's group.
  void return_stranger(std::vector<StepResult>& results, const std::vector<std::size_t>& done) {
    const auto& last = results[done.back()].step;
    const auto& task = move_of(last)->task;
    auto now = stat_of(last);
    if (!now) now = proc_.stat(task.pid);  // somebody else's now
    if (!now || now->key == task) return;
    const auto places = proc_.groups(now->key.pid, tree_.host());
    const auto homes = proc_.groups(now->ppid, tree_.host());
    for (const auto i : done) {
      auto& result = results[i];
      const auto& group = result.step.group;
      if (places && group_in(*places, group.hierarchy) != group.path) continue;
      result.stranger = true;
      result.outcome = Outcome::failed;
      const auto home = homes ? group_in(*homes, group.hierarchy) : std::nullopt;
      result.text = put_back(result.step, *now, home);
    }
  }

  [[nodiscard]] std::optional<CgroupPath> group_in(const std::vector<std::string>& groups,
                                                   const std::string& hierarchy) const {
    const auto& hierarchies = tree_.host().hierarchies;
    for (std::size_t i = 0; i < std::min(hierarchies.size(), groups.size()); ++i) {
      if (hierarchies[i].name != hierarchy) continue;
      const auto path = CgroupPath::parse(groups[i]);
      return path ? std::optional(*path) : std::nullopt;
    }
    return std::nullopt;
  }

  std::string put_back(const Step& step, const TaskStat& stranger,
                       const std::optional<CgroupPath>& home) {
    const Pid pid = stranger.key.pid;
    if (!home)
      return fmt::format(
          "pid {} was reused during the move; its parent {} has no group to return to", pid,
          stranger.ppid);
    auto back = step;
    back.group.path = *home;
    const auto done = act(back);
    if (done)
      return fmt::format("pid {} was reused during the move; it was returned to {}", pid,
                         home->str());
    return fmt::format("pid {} was reused during the move and could not be returned: {}", pid,
                       done.error().text);
  }

  CgroupTree& tree_;
  ProcView& proc_;
  SystemdManager* systemd_;
  std::vector<GroupRef> ended_;
};

}  // namespace

Report apply(const Plan& plan, CgroupTree& tree, ProcView& proc, SystemdManager* systemd,
             const std::function<bool()>& enough) {
  Applier applier(tree, proc, systemd);
  const std::span<const Step> steps(plan.steps);
  Report report;
  auto& results = report.results;
  results.reserve(steps.size());
  while (results.size() < steps.size()) {
    const auto portion = results.size() / kPortion;
    if (const auto moves = moves_of_one(steps.subspan(results.size())); !moves.empty())
      std::ranges::move(applier.move(moves), std::back_inserter(results));
    else
      results.push_back(applier.run(steps[results.size()]));
    if (enough && results.size() / kPortion != portion && enough()) break;
  }
  return report;
}

}  // namespace kcg
