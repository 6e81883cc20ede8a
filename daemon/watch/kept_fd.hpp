// SPDX-License-Identifier: Apache-2.0
//
// Descriptors that stay open as long as a sandbox lives (L9). They make an event of what a look
// would find as well, so they may take all but what the looks themselves need.
#pragma once

#include "base/fd.hpp"
#include "base/result.hpp"

namespace kcg {

/// The descriptor itself; EMFILE: it is one of the last, and closed again.
[[nodiscard]] Result<Fd> kept(Fd fd);

}  // namespace kcg
