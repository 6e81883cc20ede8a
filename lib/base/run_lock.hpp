// SPDX-License-Identifier: Apache-2.0
//
// The lock of the run directory (L0): whoever holds it is the only one who moves processes.
#pragma once

#include <string>

#include "base/dir.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"

namespace kcg {

/// Where it is, below the run root.
inline constexpr const char* kRunDirectory = "/run/kata-cgroupd";

/// Held as long as the descriptor is open. EBUSY: a daemon holds it. `name`: how the directory is
/// called in errors.
[[nodiscard]] Result<Fd> take_run_lock(const Dir& dir, const std::string& name);

}  // namespace kcg
