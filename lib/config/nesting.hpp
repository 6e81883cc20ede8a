// SPDX-License-Identifier: Apache-2.0
//
// How deep a TOML text nests, told before it is parsed (L3, private to config/): the parser and the
// walk over its result go down once per level.
#pragma once

#include <string_view>

namespace kcg {

/// 0: within what any sensible file needs; else the line where it gets absurd. Brackets and the
/// dots of keys count, what stands in quotes or comments does not.
[[nodiscard]] unsigned absurd_nesting(std::string_view toml);

}  // namespace kcg
