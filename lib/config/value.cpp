// SPDX-License-Identifier: Apache-2.0
#include "config/value.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace kcg {

namespace {

/// A TOML basic string. Text beyond ASCII is UTF-8 already, the parser has checked it.
std::string quoted_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out.append(1, '\\').append(1, c);
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + "\"";
}

struct Writer {
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
  std::string operator()(const std::string& text) const { return quoted_text(text); }
  std::string operator()(const std::vector<std::string>& list) const {
    std::vector<std::string> items;
    items.reserve(list.size());
    for (const auto& item : list) items.push_back(quoted_text(item));
    return fmt::format("[{}]", join(items, ", "));
  }
  std::string operator()(const OtherValue& other) const { return other.what; }
};

bool bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

}  // namespace

std::string toml_text(const ConfigValue& value) { return std::visit(Writer{}, value); }

std::string toml_key(std::string_view part) {
  const bool plain = !part.empty() && std::all_of(part.begin(), part.end(), bare);
  return plain ? std::string(part) : quoted_text(part);
}

}  // namespace kcg
