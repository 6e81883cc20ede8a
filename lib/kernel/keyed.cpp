// SPDX-License-Identifier: Apache-2.0
#include "kernel/keyed.hpp"

#include <cerrno>
#include <optional>

#include "base/text.hpp"

namespace kcg {

Result<std::uint64_t> keyed_value(std::string_view text, std::string_view key) {
  for (const auto line : lines(text)) {
    const auto space = line.find(' ');
    if (line.substr(0, space) != key) continue;
    const auto value =
        space == std::string_view::npos ? std::nullopt : parse_u64(line.substr(space + 1));
    if (!value) return fail(EINVAL, "{}: no number in '{}'", key, escaped(line));
    return *value;
  }
  return fail(ENOENT, "{}: no such line", key);
}

}  // namespace kcg
