// SPDX-License-Identifier: Apache-2.0
//
// The parts of diff() in the order in which it uses them (L4, internal to plan/).
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernel/cpuset.hpp"
#include "model/observed.hpp"
#include "model/plan.hpp"

namespace kcg::steps {

/// Appends steps to `out`. Each member looks only at (observed, desired) and at what earlier
/// members have promised to create.
class Steps final {
 public:
  Steps(const Observed& observed, const Desired& desired, std::vector<Step>& out)
      : observed_(observed), desired_(desired), out_(out) {}

  /// +controller in the pod cgroup or in Kata's scope; `created`: in those that this plan makes.
  void enable_foreign(bool created = false);
  /// With all limits, so that no process is in it without them.
  void start_scope(const WantedGroup& scope);
  /// mkdir, mark, threaded mode.
  void make(const WantedGroup& group);
  /// Own subtree_control, cpuset, device programs, limits: in an order in which the kernel accepts
  /// them.
  void adjust(const WantedGroup& group);
  /// Parents that had to stay wide until their children had followed, deepest first.
  void narrow();
  /// Whole processes whose leader is not with us.
  void move_processes();
  /// Single threads that are in the wrong group of ours.
  void move_threads();
  /// Marked groups that nobody wants, children first.
  void remove_unwanted();

 private:
  void make_parents(const WantedGroup& group);
  [[nodiscard]] bool removed_by_others(const GroupRef& ref) const;
  void set_cpuset(const WantedGroup& group);
  void carry_devices(const WantedGroup& group);
  void raise_swap(const WantedGroup& group, const WantedFile& limit);
  [[nodiscard]] bool child_has_more(const WantedGroup& group, const WantedFile& file,
                                    const CpuSet& final_set) const;
  void set_file(const WantedGroup& group, const op::Change& change);
  void move(const WantedProcess& process, std::size_t hierarchy, const Thread& leader);
  void add(const GroupRef& group, Operation operation);

  const Observed& observed_;
  const Desired& desired_;
  std::vector<Step>& out_;
  std::set<GroupRef> created_;
  struct Narrow {
    const WantedGroup* group;
    op::Change change;
  };
  std::vector<Narrow> narrow_later_;
  /// (process, hierarchy index) that a step of this plan moves as a whole.
  std::set<std::pair<TaskKey, std::size_t>> moved_;
};

}  // namespace kcg::steps
