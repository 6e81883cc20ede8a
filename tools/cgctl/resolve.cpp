// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/resolve.hpp"

#include "base/text.hpp"
#include "daemon/manager.hpp"

namespace kcg::cgctl {

namespace {
constexpr std::size_t kShortestPrefix = 4;
}

Result<std::size_t> resolve_id(const std::vector<std::string>& ids, const std::string& text) {
  std::vector<std::size_t> matches;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == text) return i;
    if (ids[i].starts_with(text)) matches.push_back(i);
  }
  if (text.size() < kShortestPrefix || matches.empty())
    return fail(static_cast<int>(ManagerError::no_such_sandbox),
                "no sandbox '{}': give a full id or at least {} characters of one", escaped(text),
                kShortestPrefix);
  if (matches.size() > 1)
    return fail(static_cast<int>(ManagerError::ambiguous_id),
                "'{}' is ambiguous: {} and {} others match", escaped(text), ids[matches.front()],
                matches.size() - 1);
  return matches.front();
}

}  // namespace kcg::cgctl
