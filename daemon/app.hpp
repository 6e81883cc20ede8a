// SPDX-License-Identifier: Apache-2.0
//
// The daemon put together (L9): every part is named here once, in the order in which it is needed.
#pragma once

#include "base/result.hpp"
#include "daemon/options.hpp"

namespace kcg {

/// Runs until SIGTERM or SIGINT; the value is the exit status. An error means that it did not
/// start.
[[nodiscard]] Result<int> run_daemon(const Options& options, const Config& config);

}  // namespace kcg
