// SPDX-License-Identifier: Apache-2.0
#include "apply/apply.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/overloaded.hpp"
#include "model/errnos.hpp"

namespace kcg {

namespace {

static_assert(errnos::kNotThere == ENOENT && errnos::kNoTask == ESRCH && errnos::kBusy == EBUSY &&
              errnos::kNoDevice == ENODEV && errnos::kNotDirectory == ENOTDIR &&
              errnos::kInvalid == EINVAL && errnos::kUnsupported == EOPNOTSUPP);

/// So many steps are performed before somebody is asked whether that is enough.
constexpr std::size_t kPortion = 64;

/// Performs steps and remembers which branches have ended.
class Applier final {
 public:
  Applier(CgroupTree& tree, ProcView& proc, SystemdManager* systemd)
      : tree_(tree), proc_(proc), systemd_(systemd) {}

  StepResult run(const Step& step) {
    if (ended(step.group)) return skipped(step, "an earlier step for this group failed");
    StepResult result;
    result.step = step;
    perform(step, result);
    if (result.outcome == Outcome::failed && ends_branch(step)) ended_.push_back(step.group);
    return result;
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

  void perform(const Step& step, StepResult& result) {
    const auto& group = step.group;
    std::visit(Overloaded{[&](const op::MoveProcess& one) { move(group, one, result); },
                          [&](const op::MoveThread& one) { move(group, one, result); },
                          [&](const auto& one) {
                            just_seen_.reset();
                            note(act(group, one), result);
                          }},
               step.operation);
    if (result.outcome == Outcome::done && by_systemd(step)) result.outcome = Outcome::pending;
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

  static Status no_systemd(const std::string& what) {
    return fail(ENOTCONN, "{}: systemd's manager is not reached; see [systemd] address", what);
  }

  [[nodiscard]] Result<TaskStat> stat_of(const op::MoveProcess& one) {
    return proc_.stat(one.task.pid);
  }
  [[nodiscard]] Result<TaskStat> stat_of(const op::MoveThread& one) {
    return proc_.thread_stat(one.process, one.task.pid);
  }

  template <class Move>
  void move(const GroupRef& group, const Move& one, StepResult& result) {
    if (std::exchange(just_seen_, std::nullopt) != one.task) {
      const auto before = stat_of(one);
      if (!before || before->key != one.task) {
        note(fail(ESRCH, "task {} has ended", one.task.pid), result);
        return;
      }
    }
    const std::string file(file_of(one));
    note(tree_.write(group, file, std::to_string(one.task.pid)), result);
    if (result.outcome != Outcome::done) return;
    auto after = stat_of(one);
    if (!after) after = proc_.stat(one.task.pid);  // somebody else's now
    if (after && after->key == one.task) just_seen_ = one.task;
    if (!after || after->key == one.task) return;
    result.stranger = true;
    result.outcome = Outcome::failed;
    result.text = put_back(group.hierarchy, file, *after);
  }

  /// The pid was reused between the look and the write: it goes to its parent's group.
  std::string put_back(const std::string& hierarchy, const std::string& file,
                       const TaskStat& stranger) {
    const auto& hierarchies = tree_.host().hierarchies;
    const auto groups = proc_.groups(stranger.ppid, tree_.host());
    for (std::size_t i = 0; groups && i < hierarchies.size() && i < groups->size(); ++i) {
      if (hierarchies[i].name != hierarchy) continue;
      const auto home = CgroupPath::parse((*groups)[i]);
      if (!home) break;
      const auto done = tree_.write({hierarchy, *home}, file, std::to_string(stranger.key.pid));
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
  std::optional<TaskKey> just_seen_;  ///< after the step before: it is moved in each hierarchy
};

}  // namespace

Report apply(const Plan& plan, CgroupTree& tree, ProcView& proc, SystemdManager* systemd,
             const std::function<bool()>& enough) {
  Applier applier(tree, proc, systemd);
  Report report;
  report.results.reserve(plan.steps.size());
  for (const auto& step : plan.steps) {
    report.results.push_back(applier.run(step));
    if (enough && report.results.size() % kPortion == 0 && enough()) break;
  }
  return report;
}

}  // namespace kcg
