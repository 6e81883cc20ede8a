// SPDX-License-Identifier: Apache-2.0
//
// What people and programs are shown (L3): one view per sandbox, and the JSON documents.
#pragma once

#include <string>
#include <vector>

#include "model/observed.hpp"
#include "model/plan.hpp"
#include "model/view.hpp"
#include "plan/recognise.hpp"
#include "plan/record.hpp"

namespace kcg {

[[nodiscard]] SandboxView make_view(const Observed& observed, const Desired& desired,
                                    const Record& record);

/// A bundle that is not managed, with the reason, for `list --all`.
[[nodiscard]] SandboxView ignored_view(const Assembled& assembled);

/// Value: one sandbox with everything `plan` prints.
struct Planned {
  std::string id;
  HierarchyMode hierarchy = HierarchyMode::v2;
  Desired desired;
  Plan plan;
  std::vector<Condition> conditions;
};

/// JSON documents as specified in docs/json.md; `one`: the fields stand at top level.
[[nodiscard]] std::string plan_document(const std::vector<Planned>& sandboxes, bool one);
[[nodiscard]] std::string explain_document(const std::vector<Planned>& sandboxes, bool one);

}  // namespace kcg
