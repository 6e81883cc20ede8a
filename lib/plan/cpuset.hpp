// SPDX-License-Identifier: Apache-2.0
//
// Who governs the CPUs of a sandbox (L4). A Kata that pins vCPUs writes the CPUs of its own group
// and in the next microseconds calls sched_setaffinity for each vCPU: a thread whose group of ours
// is still narrower makes that call fail, and with it the container. So no cpuset of ours is ever
// narrower than Kata's for a thread that Kata may pin, whether the daemon runs or not.
#pragma once

#include <optional>
#include <string>

#include "layout/layout.hpp"
#include "model/observed.hpp"
#include "model/plan.hpp"
#include "sizing/sizing.hpp"

namespace kcg {

/// Value: whether Kata pins vCPUs; where nobody says, it is taken for granted.
struct Pinning {
  bool pins = true;
  std::string source;  ///< whose word that is, for people
};
/// Kata's state of this sandbox has the last word, being what came of the other two; an annotation
/// that asks for pinning is believed all the same. Before there is a state, one "yes" is enough.
[[nodiscard]] Pinning kata_pins(const SandboxInputs& inputs);

/// True in v1's cpuset tree where Kata made a group, and as long as it may still make one: nothing
/// is made, moved or narrowed there.
[[nodiscard]] bool left_to_kata(const Observed& observed, const LayoutDecision& decision,
                                const LayoutPaths& paths, const Hierarchy& hierarchy);

/// Resource of one call: which lists the groups of one sandbox get.
class CpuSeeds final {
 public:
  CpuSeeds(const Observed& observed, const LayoutDecision& decision, const LayoutPaths& paths,
           const Sizing& sizing)
      : observed_(observed),
        decision_(decision),
        paths_(paths),
        sizing_(sizing),
        pins_(kata_pins(observed.inputs).pins) {}

  /// v2: the sandbox group, and one class group of it.
  void unified_top(const Hierarchy& h, WantedGroup& into) const;
  void unified_class(const Hierarchy& h, ThreadClass cls, WantedGroup& into) const;
  /// v1: a new cpuset group is empty and rejects every attach.
  void v1_top(const Hierarchy& h, WantedGroup& into) const;
  void v1_class(const Hierarchy& h, ThreadClass cls, const WantedGroup& top,
                WantedGroup& into) const;
  /// As wide as `above`: what holds for one sandbox's containers does not hold for the groups
  /// beside the pod's, nor for what an earlier version made in a tree that is left to Kata.
  void as_wide_as(const Hierarchy& h, const CgroupPath& above, WantedGroup& into) const;

 private:
  [[nodiscard]] const GroupState* kata_group(const Hierarchy& h) const;
  [[nodiscard]] std::optional<std::string> wish(const Hierarchy& h) const;
  [[nodiscard]] bool holds_pinnable(const Hierarchy& h, const CgroupPath& group) const;
  [[nodiscard]] const GroupState* nearest_existing(const Hierarchy& h, CgroupPath path) const;
  [[nodiscard]] std::string now(const WantedGroup& group, const char* file) const;
  void follow(const Hierarchy& h, WantedGroup& into) const;
  void open(const Hierarchy& h, WantedGroup& into) const;
  void widen(WantedGroup& into, const char* file, const std::string& value) const;
  void add(WantedGroup& into, const char* file, const std::string& value) const;

  const Observed& observed_;
  const LayoutDecision& decision_;
  const LayoutPaths& paths_;
  const Sizing& sizing_;
  bool pins_;
};

/// For people; nullopt: no cpuset controller is managed here.
[[nodiscard]] std::optional<Explanation> explain_cpus(const Observed& observed,
                                                      const LayoutDecision& decision,
                                                      const LayoutPaths& paths);

}  // namespace kcg
