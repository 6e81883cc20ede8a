// SPDX-License-Identifier: Apache-2.0
//
// What fuzz targets assert with: independent of NDEBUG, and it stops the process, as libFuzzer and
// the replay expect.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/result.hpp"

namespace kcg {

inline void require(bool holds, const char* what) {
  if (holds) return;
  (void)std::fprintf(stderr, "violated: %s\n", what);  // ignored: abort() tells, too
  std::abort();
}

/// An error has a text, and nothing in it could forge another line of a log.
inline void require_good_text(const Error& error) {
  require(!error.text.empty(), "an error has a text");
  const auto printable = [](char c) { return c >= 0x20 && c < 0x7f; };
  require(std::all_of(error.text.begin(), error.text.end(), printable), "its text is plain ASCII");
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace kcg
