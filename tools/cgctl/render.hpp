// SPDX-License-Identifier: Apache-2.0
//
// Values -> what a person reads. Pure: the same view gives the same text, whether it came from the
// daemon or from the kernel directly.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/view.hpp"
#include "tools/cgctl/table.hpp"

namespace kcg::cgctl {

/// How many characters of an id tell sandboxes apart for people.
inline constexpr std::size_t kShortId = 12;

[[nodiscard]] std::string render_list(const Style& style, const std::vector<SandboxView>& views);
/// The last line of `list` on a terminal: who of `all` sandboxes needs a look. "" in a pipe.
/// `daemon`: who looks after them; "" = not known.
[[nodiscard]] std::string render_answer(const Style& style, const std::vector<SandboxView>& views,
                                        std::size_t all, const std::string& daemon = "");
/// What `list --all` adds.
[[nodiscard]] std::string render_ignored(const Style& style, const std::vector<SandboxView>& views);
/// `events`: what has happened to it, ready to be printed; "" where that is not known.
[[nodiscard]] std::string render_show(const Style& style, const SandboxView& view,
                                      const std::string& events = "");
[[nodiscard]] std::string render_tree(const Style& style, const std::vector<SandboxView>& views);
[[nodiscard]] std::string render_threads(const Style& style, const SandboxView& view);
/// "All 16 threads are where they belong."
[[nodiscard]] std::string render_whereabouts(const Style& style, std::size_t all,
                                             std::size_t wrong);
/// "default/nginx  0123456789ab  placed".
[[nodiscard]] std::string render_heading(const Style& style, const SandboxView& view);
/// The text with the sandbox's id cut where it stands whole: a heading has it.
[[nodiscard]] std::string shorter_id(const Style& style, const std::string& id,
                                     const std::string& text);
/// A path as seen from the sandbox group: "vcpu", "../kata_0123"; what is not near stays whole.
[[nodiscard]] std::string short_path(const SandboxView& view, const std::string& path);
/// The text with paths as seen from `group`, which itself is called by a name.
[[nodiscard]] std::string seen_from(const std::string& group, const std::string& name,
                                    std::string text);
/// Paths within a text as seen from the sandbox group, then from the pod's, where somebody reads it
/// on a terminal.
[[nodiscard]] std::string with_short_paths(const Style& style, const SandboxView& view,
                                           std::string text);

/// The title of each sandbox by its id: the documents of plan and explain have ids only.
using Titles = std::map<std::string, std::string>;

/// From the JSON documents of plan and explain, which is what the daemon sends. An error: the
/// document is not one.
[[nodiscard]] Result<std::string> render_plan(const Style& style, const std::string& document,
                                              const Titles& titles = {});
/// `topic`: memory, cpu, cpuset or placement; "" = everything.
[[nodiscard]] Result<std::string> render_explain(const Style& style, const std::string& document,
                                                 const std::string& topic = "",
                                                 const Titles& titles = {});
/// Number of steps in a document of plan.
[[nodiscard]] Result<std::size_t> count_steps(const std::string& document);

[[nodiscard]] Paint paint_of(SandboxState state);
[[nodiscard]] Paint paint_of(Severity severity);

}  // namespace kcg::cgctl
