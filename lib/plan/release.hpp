// SPDX-License-Identifier: Apache-2.0
//
// A sandbox that is given back (L4): its processes go to Kata's own groups, our limits and groups
// go. Pure. Changed is what carries our mark, and besides only what had to be Kata's for us to be
// there: controllers in the scope that our group stands in are taken back, and Kata's own group is
// made again where it has gone and no other place takes processes.
#pragma once

#include <string>
#include <vector>

#include "model/observed.hpp"
#include "model/plan.hpp"

namespace kcg {

/// Value: one sandbox, as release_plan() has to know it.
struct HeldSandbox {
  /// Kata's groups are looked at in every hierarchy; the kernel threads that sit in our groups, a
  /// VMM's vhost workers, are among the processes.
  Observed observed;
  std::vector<std::string> beside;  ///< v2: groups in Kata's scope that are not ours
};

/// Value: what is to be done, and what cannot be, for people.
struct ReleasePlan {
  Plan plan;
  std::vector<std::string> problems;
  bool operator==(const ReleasePlan&) const = default;
};

/// Limits go first, then controllers, processes, and at last groups and marks: whatever fails on
/// the way, nobody is limited further than before. Empty when nothing of ours is left. Where a
/// problem is named, that hierarchy is left as it is.
[[nodiscard]] ReleasePlan release_plan(const HeldSandbox& held);

}  // namespace kcg
