// SPDX-License-Identifier: Apache-2.0
//
// Is every thread of a sandbox in the group where it belongs? Answered by the kernel's own files
// and by libcgroup; the classes come from the VMM itself.
#pragma once

#include <string>

#include "support/live/sandbox.hpp"

namespace kcg::live {

/// "" when all is in place, else one line per thread or file that is not as it must be.
[[nodiscard]] std::string misplaced(const Sandbox& sandbox, const Truth& truth);

/// Waits until all is in place, also for a VMM whose threads are still starting; the last
/// misplaced() otherwise.
[[nodiscard]] std::string settle(const Sandbox& sandbox);

/// The same question to libcgroup.
[[nodiscard]] std::string misplaced_by_libcgroup(const Sandbox& sandbox, const Truth& truth);

/// Every group of the sandbox carries its mark; "" or what does not.
[[nodiscard]] std::string unmarked(const Sandbox& sandbox);

/// Waits until no group of the sandbox is left in any hierarchy; the ones that are otherwise.
[[nodiscard]] std::string gone(const Sandbox& sandbox);

}  // namespace kcg::live
