// SPDX-License-Identifier: Apache-2.0
#include "layout/group_name.hpp"

#include <algorithm>
#include <cstddef>

namespace kcg {

namespace {

constexpr std::size_t kIdLength = 64;  // what cAdvisor looks for
constexpr std::size_t kPiece = 32;

bool of_an_id(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

/// How many characters of an id stand at the beginning of `text`.
std::size_t run(std::string_view text) {
  const auto* end = std::find_if_not(text.begin(), text.end(), of_an_id);
  return static_cast<std::size_t>(end - text.begin());
}

}  // namespace

std::string cut(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto length = run(text);
    const auto taken = length >= kIdLength ? kPiece : std::max<std::size_t>(length, 1);
    out += text.substr(0, taken);
    if (length >= kIdLength) out += '-';
    text.remove_prefix(taken);
  }
  return out;
}

bool inside_scope(const CgroupPath& path) {
  const std::string_view text = path.str();
  return text.ends_with(".scope") || text.find(".scope/") != std::string_view::npos;
}

std::string group_name(const SandboxId& id, const CgroupPath& parent) {
  const auto whole = whole_group_name(id);
  return inside_scope(parent) ? cut(whole) : whole;
}

std::string whole_group_name(const SandboxId& id) { return "kata-sandbox-" + id.str(); }

}  // namespace kcg
