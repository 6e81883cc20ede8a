// SPDX-License-Identifier: Apache-2.0
//
// `uninstall-check` and `release` as texts and documents. Pure.
#pragma once

#include <string>
#include <vector>

#include "model/view.hpp"
#include "offline/held.hpp"
#include "offline/release.hpp"
#include "tools/cgctl/table.hpp"

namespace kcg::cgctl {

/// Value: what is ours of one sandbox, and what it is called.
struct HeldSandboxView {
  SandboxView view;
  HeldGroups held;
};

/// True if somebody is in one of its groups.
[[nodiscard]] bool inhabited(const HeldSandboxView& one);

/// One line for each sandbox that lives in groups of ours, then the answer; on a terminal empty
/// groups are told, too.
[[nodiscard]] std::string render_held(const Style& style, const std::vector<HeldSandboxView>& all);
[[nodiscard]] std::string held_document(const std::vector<HeldSandboxView>& all);

/// Value: what became of one sandbox, and what it is called.
struct ReleasedView {
  SandboxView view;
  Released released;
};

[[nodiscard]] std::string render_released(const Style& style, const std::vector<ReleasedView>& all);
/// `one`: its fields stand at top level.
[[nodiscard]] std::string released_document(const std::vector<ReleasedView>& all, bool one);

}  // namespace kcg::cgctl
