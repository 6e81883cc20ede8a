// SPDX-License-Identifier: Apache-2.0
#include "model/mark.hpp"

#include "model/enums.hpp"

namespace kcg {

namespace {

/// How the node's own run root is told from others where it has to be said.
constexpr std::string_view kOwnRun = "/";

bool is_run_root(std::string_view text) {
  return text.size() > 1 && text.front() == '/' && text.find('\n') == std::string_view::npos &&
         text.find('\0') == std::string_view::npos;
}

/// The id if this run root's daemon wrote it; else a text with a blank in it, which is no id.
std::string text_of(std::string_view value, std::string_view run_root) {
  const auto blank = value.find(' ');
  const auto id = value.substr(0, blank);
  const auto maker = blank == std::string_view::npos ? std::string_view() : value.substr(blank + 1);
  const bool plain = blank == std::string_view::npos || is_run_root(maker);
  if (plain && SandboxId::parse(id) && maker == run_root) return std::string(id);
  std::string others(value);
  if (blank == std::string_view::npos) others.append(" ").append(kOwnRun);
  return others;
}

/// The group's name without what the layouts put in front of the id.
std::string_view bare_name(std::string_view name) {
  for (const std::string_view prefix : {"kata-sandbox-", "kata-"})
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  return name;
}

/// A long id may be cut by dashes in a name; see layouts.md.
bool names(std::string_view name, std::string_view id) {
  if (name == id) return true;
  std::size_t at = 0;
  for (const char c : name) {
    if (at < id.size() && id[at] == c)
      ++at;
    else if (c != '-' || at == 0 || at == id.size())
      return false;
  }
  return at == id.size();
}

}  // namespace

std::string mark_value(std::string_view id, std::string_view run_root) {
  std::string value(id);
  if (!run_root.empty()) value.append(" ").append(run_root);
  return value;
}

std::optional<Mark> believed_mark(const MarkFacts& facts, std::string_view run_root) {
  if (facts.mark && facts.roots) return Mark{text_of(*facts.mark, run_root), false};
  // It does not say whose daemon wrote it: the node's own takes it over.
  if (facts.earlier && facts.roots && facts.roots_alone)
    return Mark{text_of(*facts.earlier, run_root), true};
  return std::nullopt;
}

bool only_ours(const SandboxId& id, const CgroupPath& path) {
  if (path.is_root()) return false;
  if (parse_thread_class(path.name())) return only_ours(id, path.parent());
  constexpr std::string_view kPrefix = "kata-sandbox-";
  const std::string_view name = path.name();
  return name.starts_with(kPrefix) && names(name.substr(kPrefix.size()), id.str());
}

bool mark_fits(const SandboxId& id, const CgroupPath& path) {
  const auto fits = [&](std::string_view name) {
    const auto bare = bare_name(name);
    if (names(name, id.str()) || names(bare, id.str()) || names(bare, id.str() + ".scope"))
      return true;
    // Legacy on v1: kata_ and the last component of the container's own path, whatever that is.
    return name.starts_with("kata_");
  };
  if (path.is_root()) return false;
  if (fits(path.name())) return true;
  return parse_thread_class(path.name()) && !path.parent().is_root() && fits(path.parent().name());
}

}  // namespace kcg
