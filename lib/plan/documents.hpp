// SPDX-License-Identifier: Apache-2.0
//
// The JSON documents that people's scripts read (L3): one object each, with "version": 1. Their
// form is a promise, see docs/json.md: fields may be added, never renamed or retyped.
// plan_document() and explain_document() are declared in plan/view.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/view.hpp"

namespace kcg {

/// Overview; views with a reason in `ignored` tell that instead of a state.
[[nodiscard]] std::string list_document(const std::vector<SandboxView>& views);
[[nodiscard]] std::string show_document(const SandboxView& view);
/// `one`: the fields of the only view stand at top level.
[[nodiscard]] std::string tree_document(const std::vector<SandboxView>& views, bool one);
[[nodiscard]] std::string threads_document(const SandboxView& view);

/// "2024-05-06T07:08:09Z" of seconds since 1970; "" for a year that does not have four digits.
[[nodiscard]] std::string rfc3339(std::int64_t seconds);

}  // namespace kcg
