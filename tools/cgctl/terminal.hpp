// SPDX-License-Identifier: Apache-2.0
//
// What stdout and stderr are.
#pragma once

#include <cstdio>

#include "tools/cgctl/options.hpp"
#include "tools/cgctl/table.hpp"

namespace kcg::cgctl {

/// Style for one of them: its width, colour by choice, terminal and NO_COLOR, characters by locale.
[[nodiscard]] Style style_of(std::FILE* stream, const Options& options);

}  // namespace kcg::cgctl
