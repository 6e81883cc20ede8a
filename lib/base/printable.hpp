// SPDX-License-Identifier: Apache-2.0
//
// Text of unknown origin for a terminal or a log (L0): nothing in it can move the cursor, change
// colours, end a line, or turn the direction in which what follows is read.
#pragma once

#include <string>
#include <string_view>

namespace kcg {

/// Control characters (C0, DEL, C1), marks of direction (U+061C, U+200E, U+200F, U+202A to U+202E,
/// U+2066 to U+2069), separators of lines and paragraphs (U+2028, U+2029) and whatever is not UTF-8
/// become \xNN, byte by byte. Applying it twice equals applying it once.
[[nodiscard]] std::string printable(std::string_view text);

/// The same for text of several lines: their ends stay.
[[nodiscard]] std::string printable_lines(std::string_view text);

/// The same for a JSON document, which says the same afterwards: \uNNNN, and line ends stay.
[[nodiscard]] std::string printable_json(std::string_view document);

}  // namespace kcg
