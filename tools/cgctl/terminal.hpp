// SPDX-License-Identifier: Apache-2.0
//
// What stdout is.
#pragma once

#include "tools/cgctl/options.hpp"
#include "tools/cgctl/table.hpp"

namespace kcg::cgctl {

/// Style for stdout: its width, colour by choice, terminal and NO_COLOR, characters by locale.
[[nodiscard]] Style style_of_stdout(const Options& options);

}  // namespace kcg::cgctl
