// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/resolve.hpp"

#include <fmt/format.h>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "daemon/manager.hpp"
#include "tools/cgctl/render.hpp"

namespace kcg::cgctl {

namespace {

/// More would only push the first ones out of sight.
constexpr std::size_t kMostCandidates = 10;

bool named(const SandboxView& view, const std::string& text) {
  if (text.size() >= kShortestPrefix && view.id.starts_with(text)) return true;
  if (view.pod_name.empty()) return false;
  return view.pod_name == text || view.pod_namespace + "/" + view.pod_name == text;
}

std::string candidates(const std::vector<const SandboxView*>& matches) {
  std::string out;
  for (std::size_t i = 0; i < matches.size() && i < kMostCandidates; ++i)
    out += fmt::format("\n  {}  {}", printable(matches[i]->id.substr(0, kShortId)),
                       printable(title(*matches[i])));
  if (matches.size() > kMostCandidates)
    out += fmt::format("\n  and {} more", matches.size() - kMostCandidates);
  return out;
}

}  // namespace

Result<std::string> resolve_name(const std::vector<SandboxView>& views, const std::string& text) {
  std::vector<const SandboxView*> matches;
  for (const auto& view : views) {
    if (view.id == text) return view.id;
    if (named(view, text)) matches.push_back(&view);
  }
  if (matches.empty())
    return fail(static_cast<int>(ManagerError::no_such_sandbox),
                "no sandbox '{}': give its pod as namespace/name, or its id, or at least {} "
                "characters from the beginning of its id; 'cgctl list' shows them",
                escaped(text), kShortestPrefix);
  if (matches.size() > 1)
    return fail(static_cast<int>(ManagerError::ambiguous_id),
                "'{}' is ambiguous, {} sandboxes are called so:{}", escaped(text), matches.size(),
                candidates(matches));
  return matches.front()->id;
}

Result<std::string> full_id(const std::string& text, Source& source) {
  if (text.empty()) return text;
  const auto views = source.list(false);
  if (!views) return forward(views.error());
  return resolve_name(*views, text);
}

std::string title(const SandboxView& view) {
  if (!view.pod_name.empty())
    return view.pod_namespace.empty() ? view.pod_name : view.pod_namespace + "/" + view.pod_name;
  const auto id = view.id.substr(0, kShortId);
  return view.engine == Engine::none ? id : fmt::format("{}:{}", name(view.engine), id);
}

}  // namespace kcg::cgctl
