// SPDX-License-Identifier: Apache-2.0
#include "apply/apply.hpp"

#include <algorithm>
#include <cerrno>
#include <vector>

namespace kcg {

namespace {

/// Performs steps and remembers which branches have ended.
class Applier final {
 public:
  Applier(CgroupTree& tree, ProcView& proc, SystemdManager* systemd)
      : tree_(tree), proc_(proc), systemd_(systemd) {}

  StepResult perform(const Step& step) {
    StepResult result;
    result.step = step;
    if (ended(step.group)) {
      result.outcome = Outcome::skipped;
      result.text = "an earlier step for this group failed";
      return result;
    }
    if (step.task && !for_systemd(step)) {
      move(step, result);
    } else {
      note(act(step), result);
      if (result.outcome == Outcome::done && for_systemd(step)) result.outcome = Outcome::pending;
    }
    if (result.outcome == Outcome::failed && ends_branch(step)) ended_.push_back(step.group);
    return result;
  }

 private:
  /// It answers later.
  static bool for_systemd(const Step& step) {
    return step.op == Op::start_scope || step.op == Op::set_scope;
  }

  static void note(const Status& status, StepResult& result) {
    if (status) return;
    result.outcome = Outcome::failed;
    result.code = status.error().code;
    result.text = status.error().text;
  }

  /// Without these steps the group cannot be used.
  [[nodiscard]] bool ends_branch(const Step& step) const {
    switch (step.op) {
      case Op::create:
      case Op::mark:
      case Op::device:
      case Op::start_scope:
        return true;
      case Op::seed:  // v1: an empty cpuset takes nobody in
        return !unified(step.group);
      case Op::enable:
        return step.key == "cgroup.type";
      default:
        return false;
    }
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
    switch (step.op) {
      case Op::create:
        return tree_.make(step.group);
      case Op::mark:
        return tree_.set_mark(step.group, step.new_value);
      case Op::remove:
        return tree_.remove(step.group);
      case Op::enable:
      case Op::seed:
      case Op::limit:
        return tree_.write(step.group, step.key, step.new_value);
      case Op::start_scope:
        if (systemd_ == nullptr) return no_systemd(step);
        return systemd_->start_scope({step.key, step.new_value, *step.task, step.limits});
      case Op::set_scope:
        if (systemd_ == nullptr) return no_systemd(step);
        return systemd_->set_limits(std::string(step.group.path.name()),
                                    {{step.key, step.new_value}});
      case Op::device:
        if (step.device) return tree_.change_devices(step.group, *step.device);
        break;
      case Op::move_process:
      case Op::move_thread:
        break;
    }
    return fail(EOPNOTSUPP, "{}: no such operation here", name(step.op));
  }

  static Status no_systemd(const Step& step) {
    return fail(ENOTCONN, "{}: systemd's manager is not reached; see [systemd] address", step.key);
  }

  void move(const Step& step, StepResult& result) {
    const auto before = proc_.stat(step.task->pid);
    if (!before || before->key != *step.task) {
      note(fail(ESRCH, "task {} has ended", step.task->pid), result);
      return;
    }
    note(tree_.write(step.group, step.key, std::to_string(step.task->pid)), result);
    if (result.outcome != Outcome::done) return;
    const auto after = proc_.stat(step.task->pid);
    if (!after || after->key == *step.task) return;
    result.stranger = true;
    result.outcome = Outcome::failed;
    result.text = put_back(step, *after);
  }

  /// The pid was reused between the look and the write: it goes to its parent's group.
  std::string put_back(const Step& step, const TaskStat& stranger) {
    const auto& hierarchies = tree_.host().hierarchies;
    const auto groups = proc_.groups(stranger.ppid, tree_.host());
    for (std::size_t i = 0; groups && i < hierarchies.size() && i < groups->size(); ++i) {
      if (hierarchies[i].name != step.group.hierarchy) continue;
      const auto home = CgroupPath::parse((*groups)[i]);
      if (!home) break;
      const auto done =
          tree_.write({step.group.hierarchy, *home}, step.key, std::to_string(stranger.key.pid));
      if (done)
        return fmt::format("pid {} was reused during the move; it was returned to {}",
                           stranger.key.pid, home->str());
      return fmt::format("pid {} was reused during the move and could not be returned: {}",
                         stranger.key.pid, done.error().text);
    }
    return fmt::format("pid {} was reused during the move; its parent {} has no group to return to",
                       stranger.key.pid, stranger.ppid);
  }

  CgroupTree& tree_;
  ProcView& proc_;
  SystemdManager* systemd_;
  std::vector<GroupRef> ended_;
};

}  // namespace

Report apply(const Plan& plan, CgroupTree& tree, ProcView& proc, SystemdManager* systemd) {
  Applier applier(tree, proc, systemd);
  Report report;
  report.results.reserve(plan.steps.size());
  for (const auto& step : plan.steps) report.results.push_back(applier.perform(step));
  return report;
}

}  // namespace kcg
