// SPDX-License-Identifier: Apache-2.0
//
// Amounts of memory in texts for people (L0). JSON and the bus carry bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kcg {

/// "512 MiB", "513.4 MiB", "4096 bytes": one unit, so that amounts can be compared and added up.
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

/// A formula over bytes with its numbers from 1 MiB on as bytes_text() says them: "B + S + O =
/// 2048 MiB + (512 MiB) + 350 MiB". Digits within a path are none.
[[nodiscard]] std::string formula_text(std::string_view formula);

}  // namespace kcg
