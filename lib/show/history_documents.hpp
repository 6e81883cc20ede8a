// SPDX-License-Identifier: Apache-2.0
//
// The JSON document of `events` (L4), written and read: it is what the bus carries, what cgctl
// prints, and what the daemon keeps of one sandbox over its restarts.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/sandbox_history.hpp"

namespace kcg {

/// `one`: the fields of the only history stand at top level.
[[nodiscard]] std::string history_document(const std::vector<SandboxHistory>& histories, bool one);
/// The document of `show` with the events of this sandbox.
[[nodiscard]] std::string with_events(const std::string& show_document,
                                      const SandboxHistory& history);
/// Either form of the document. An error: it is none of version 1, and why.
[[nodiscard]] Result<std::vector<SandboxHistory>> parse_history_document(const std::string& text);

}  // namespace kcg
