// SPDX-License-Identifier: Apache-2.0
#include "kernel/mountinfo.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace kcg {

namespace {

constexpr std::size_t kFieldsBeforeTags = 6;
constexpr std::size_t kFieldsAfterTags = 3;  // type, source, super options

bool octal(char c) { return c >= '0' && c <= '7'; }

/// The kernel writes space, tab, newline, '#' and backslash as \ooo. Anything else stays.
std::string unescaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && text.size() - i > 3 && text[i + 1] <= '3' &&
                        octal(text[i + 1]) && octal(text[i + 2]) && octal(text[i + 3]);
    if (!escape) {
      out += text[i];
      continue;
    }
    const int code = (text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0');
    out += static_cast<char>(code);
    i += 3;
  }
  return out;
}

std::vector<std::string> options(std::string_view text) {
  std::vector<std::string> found;
  for (const auto part : split(text, ',')) found.push_back(unescaped(part));
  return found;
}

/// "36 35 98:0 /root /point rw,noatime master:1 - ext4 /dev/root rw,errors=continue". The source
/// may be empty, so fields are split at single spaces.
Result<Mount> parse_mount(std::string_view line) {
  const auto fields = split(line, ' ');
  if (fields.size() < kFieldsBeforeTags + 1 + kFieldsAfterTags)
    return fail(0, "mountinfo: too few fields in '{}'", escaped(line, 128));
  const auto tags_end = std::find(fields.begin() + kFieldsBeforeTags, fields.end(), "-");
  if (fields.end() - tags_end <= static_cast<std::ptrdiff_t>(kFieldsAfterTags))
    return fail(0, "mountinfo: no separator '-' before the last three fields in '{}'",
                escaped(line, 128));
  return Mount{unescaped(fields[3]), unescaped(fields[4]), unescaped(tags_end[1]),
               unescaped(tags_end[2]), options(tags_end[3])};
}

}  // namespace

bool Mount::has_option(std::string_view option) const {
  return std::find(super_options.begin(), super_options.end(), option) != super_options.end();
}

Result<std::vector<Mount>> parse_mountinfo(std::string_view text) {
  std::vector<Mount> mounts;
  for (const auto line : lines(text)) {
    auto mount = parse_mount(line);
    if (!mount) return forward(mount.error());
    mounts.push_back(std::move(*mount));
  }
  return mounts;
}

}  // namespace kcg
