// SPDX-License-Identifier: Apache-2.0
#include "kernel/namespaces.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace kcg {

namespace {

/// Value: a kind of namespace.
struct Kind {
  std::string_view name;
  std::string Namespaces::* own;
  std::uint32_t first;  ///< inode of the node's own
  std::string_view otherwise;
};

constexpr std::array<Kind, 3> kKinds = {{
    {"pid", &Namespaces::pid, 0xEFFFFFFC, "the node's processes would have other numbers, or none"},
    {"user", &Namespaces::user, 0xEFFFFFFD, "root would be another user than the node's"},
    {"cgroup", &Namespaces::cgroup, 0xEFFFFFFB, "paths of groups would not be the node's"},
}};

}  // namespace

std::string namespace_problem(const Namespaces& own) {
  std::string text;
  for (const auto& kind : kKinds) {
    const auto& link = own.*kind.own;
    if (link.empty() || link == fmt::format("{}:[{}]", kind.name, kind.first)) continue;
    text += fmt::format("{}the {} namespace {} is not the node's: {}", text.empty() ? "" : "; ",
                        kind.name, link, kind.otherwise);
  }
  if (!text.empty())
    text +=
        "; start the daemon on the node itself, or in a container with the node's namespaces of "
        "these kinds";
  return text;
}

}  // namespace kcg
