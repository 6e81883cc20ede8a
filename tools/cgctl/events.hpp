// SPDX-License-Identifier: Apache-2.0
//
// What has happened, as a person reads it. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/sandbox_history.hpp"
#include "model/view.hpp"
#include "tools/cgctl/table.hpp"

namespace kcg::cgctl {

/// What is known of a sandbox that need not live any more.
[[nodiscard]] SandboxView view_of(const SandboxHistory& history);

/// "repaired cpu.max of vcpu: at most 0.50 CPU -> at most 1.00 CPU (somebody else had changed it)".
[[nodiscard]] std::string event_text(const Style& style, const SandboxHistory& history,
                                     const SandboxEvent& event);
[[nodiscard]] Paint paint_of(const SandboxEvent& event);
/// The events of one, the newest first; "" where nothing has happened.
[[nodiscard]] std::string render_events(const Style& style, const SandboxHistory& history);
/// Those of all together, and how many there are.
[[nodiscard]] std::string render_all_events(const Style& style,
                                            const std::vector<SandboxHistory>& histories);
/// `show` of one that has ended, and `events` of one.
[[nodiscard]] std::string render_past(const Style& style, const SandboxHistory& history);
/// Who is meant among those that have ended; of several of one name the last.
[[nodiscard]] const SandboxHistory* find_ended(const std::vector<SandboxHistory>& histories,
                                               const std::string& text);

}  // namespace kcg::cgctl
