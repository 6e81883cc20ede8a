// SPDX-License-Identifier: Apache-2.0
//
// An id as people type it -> one sandbox; the same rule as the daemon's. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace kcg::cgctl {

/// Index of the full id, or of the only id that starts with these at least 4 characters.
[[nodiscard]] Result<std::size_t> resolve_id(const std::vector<std::string>& ids,
                                             const std::string& text);

}  // namespace kcg::cgctl
