// SPDX-License-Identifier: Apache-2.0
//
// One error type and one result type for the whole product (L0).
// Functions that can fail return Result<T>; the text says what, where and with which value, and the
// code is the errno behind it (0 when no system call was involved).
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace kcg {

/// Value: what went wrong. `code` is an errno or 0.
struct Error {
  int code = 0;
  std::string text;
  bool operator==(const Error&) const = default;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

/// The failing branch of a Result, with a formatted text.
template <class... Args>
[[nodiscard]] tl::unexpected<Error> fail(int code, fmt::format_string<Args...> format,
                                         Args&&... args) {
  return tl::unexpected<Error>(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

/// Forwards an error with the caller's context in front: "context: text".
[[nodiscard]] inline tl::unexpected<Error> forward(const Error& error, std::string_view context) {
  return tl::unexpected<Error>(Error{error.code, fmt::format("{}: {}", context, error.text)});
}

/// Forwards an error unchanged.
[[nodiscard]] inline tl::unexpected<Error> forward(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

/// The text of an errno, e.g. "No space left on device". Thread safe.
[[nodiscard]] std::string errno_text(int code);

}  // namespace kcg
