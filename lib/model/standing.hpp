// SPDX-License-Identifier: Apache-2.0
//
// What is told of a sandbox beside this moment's look (L1).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/condition.hpp"
#include "model/enums.hpp"
#include "model/ids.hpp"
#include "model/plan.hpp"

namespace kcg {

/// Value: where a sandbox is, for those who look when nothing is wanted any more.
struct Place {
  Layout layout = Layout::sandbox_only;
  LayoutSource layout_source = LayoutSource::default_value;
  Driver driver = Driver::cgroupfs;
  CgroupPath pod_cgroup, sandbox_cgroup, overhead_cgroup;
  Overhead overhead;
  bool operator==(const Place&) const = default;
};

/// Value: how a sandbox stands by its passes so far.
struct Standing {
  SandboxState state = SandboxState::discovered;
  std::optional<Place> place;  ///< the last one that was wanted
  std::vector<ActiveCondition> conditions;
  std::int64_t created = 0;  ///< seconds since the epoch: start of VMM, else shim
};

}  // namespace kcg
