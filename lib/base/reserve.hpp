// SPDX-License-Identifier: Apache-2.0
//
// Descriptors that are for looks at sandboxes (L0): a look has few files open at a time, command
// lines that hang have one each, the bus's callers some. What stays open takes none of them.
#pragma once

namespace kcg {

/// So many, the last that the process may have.
inline constexpr int kForLooks = 24;

/// The first of them; the largest number there is where it is not known how many there may be.
[[nodiscard]] int first_for_looks();

}  // namespace kcg
