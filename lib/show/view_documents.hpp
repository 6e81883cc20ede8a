// SPDX-License-Identifier: Apache-2.0
//
// The JSON documents of `list`, `show`, `tree` and `threads` (L4): one object each, with
// "version": 1. Their form is a promise, see docs/json.md: fields may be added, never renamed or
// retyped.
#pragma once

#include <string>
#include <vector>

#include "model/view.hpp"

namespace kcg {

/// Overview; views with a reason in `ignored` tell that instead of a state.
[[nodiscard]] std::string list_document(const std::vector<SandboxView>& views);
[[nodiscard]] std::string show_document(const SandboxView& view);
/// `one`: the fields of the only view stand at top level.
[[nodiscard]] std::string tree_document(const std::vector<SandboxView>& views, bool one);
[[nodiscard]] std::string threads_document(const SandboxView& view);

}  // namespace kcg
