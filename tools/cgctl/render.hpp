// SPDX-License-Identifier: Apache-2.0
//
// Values -> what a person reads. Pure: the same view gives the same text, whether it came from the
// daemon or from the kernel directly.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/view.hpp"
#include "tools/cgctl/table.hpp"

namespace kcg::cgctl {

[[nodiscard]] std::string render_list(const Style& style, const std::vector<SandboxView>& views);
/// What `list --all` adds.
[[nodiscard]] std::string render_ignored(const Style& style, const std::vector<SandboxView>& views);
[[nodiscard]] std::string render_show(const Style& style, const SandboxView& view);
[[nodiscard]] std::string render_tree(const Style& style, const std::vector<SandboxView>& views);
[[nodiscard]] std::string render_threads(const Style& style, const SandboxView& view);

/// From the JSON documents of plan and explain, which is what the daemon sends. An error: the
/// document is not one.
[[nodiscard]] Result<std::string> render_plan(const Style& style, const std::string& document);
[[nodiscard]] Result<std::string> render_explain(const Style& style, const std::string& document);
/// Number of steps in a document of plan.
[[nodiscard]] Result<std::size_t> count_steps(const std::string& document);

/// "default/nginx", or what is known of it.
[[nodiscard]] std::string pod_text(const SandboxView& view);
[[nodiscard]] Paint paint_of(SandboxState state);
[[nodiscard]] Paint paint_of(Severity severity);

}  // namespace kcg::cgctl
