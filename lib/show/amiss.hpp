// SPDX-License-Identifier: Apache-2.0
//
// What of a sandbox is not as it should be at this moment (L4), whether somebody has said so or
// not.
#pragma once

#include <string>
#include <vector>

#include "model/view.hpp"

namespace kcg {

/// One line for each kind of thing; empty when all is as wanted, or when nothing is wanted (yet or
/// any more). A view without threads and groups tells only of what it has.
[[nodiscard]] std::vector<std::string> amiss(const SandboxView& view);

/// A condition of severity warning or error, or something amiss.
[[nodiscard]] bool failing(const SandboxView& view);

}  // namespace kcg
