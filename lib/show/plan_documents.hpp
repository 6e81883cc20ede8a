// SPDX-License-Identifier: Apache-2.0
//
// The JSON documents of `plan` and `explain` (L4). Their form is a promise, see docs/json.md:
// fields may be added, never renamed or retyped.
#pragma once

#include <string>
#include <vector>

#include "model/condition.hpp"
#include "model/enums.hpp"
#include "model/plan.hpp"

namespace kcg {

/// Value: one sandbox with everything `plan` prints.
struct Planned {
  std::string id;
  HierarchyMode hierarchy = HierarchyMode::v2;
  Desired desired;
  Plan plan;
  std::vector<Condition> conditions;
  std::vector<Explanation> explanations;
};

/// JSON documents as specified in docs/json.md; `one`: the fields stand at top level.
[[nodiscard]] std::string plan_document(const std::vector<Planned>& sandboxes, bool one);
[[nodiscard]] std::string explain_document(const std::vector<Planned>& sandboxes, bool one);

}  // namespace kcg
