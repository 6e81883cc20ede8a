// SPDX-License-Identifier: Apache-2.0
//
// Bytes of unknown origin as valid UTF-8 (L0): D-Bus refuses a message, and JSON a document, that
// holds anything else, and a thread may call itself what it likes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kcg {

/// Each byte that is not part of a well-formed character (Unicode 15, table 3-7), and each NUL,
/// becomes U+FFFD. Applying it twice equals applying it once.
[[nodiscard]] std::string valid_utf8(std::string_view bytes);

/// Where the printable ASCII ends that begins at `at`: `at` itself where there is none.
[[nodiscard]] std::size_t plain_end(std::string_view bytes, std::size_t at);

/// Length of the well-formed character at `at`; 0 if there is none, or it is NUL.
[[nodiscard]] std::size_t utf8_length(std::string_view bytes, std::size_t at);

}  // namespace kcg
