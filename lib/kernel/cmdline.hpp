// SPDX-License-Identifier: Apache-2.0
//
// /proc/<pid>/cmdline -> arguments (L2). Source: proc(5).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kcg {

/// Splits at NUL. Empty arguments count (Kata's shim has one); the last NUL only ends the last
/// argument. Arguments beyond `max` are left out. An empty text (kernel thread, zombie): none.
[[nodiscard]] std::vector<std::string> split_cmdline(std::string_view text, std::size_t max = 4096);

}  // namespace kcg
