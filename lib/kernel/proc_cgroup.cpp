// SPDX-License-Identifier: Apache-2.0
#include "kernel/proc_cgroup.hpp"

#include <optional>

#include "base/text.hpp"

namespace kcg {

namespace {

/// "4:cpu,cpuacct:/a:b" - only the first two colons separate.
std::optional<ProcCgroup> parse_entry(std::string_view line) {
  const auto first = line.find(':');
  if (first == std::string_view::npos) return std::nullopt;
  const auto second = line.find(':', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  ProcCgroup entry;
  entry.controllers = line.substr(first + 1, second - first - 1);
  entry.path = line.substr(second + 1);
  entry.unified = line.substr(0, first) == "0" && entry.controllers.empty();
  if (!parse_u64(line.substr(0, first)) || !entry.path.starts_with('/')) return std::nullopt;
  // Only cgroup2 marks removed groups; elsewhere the same text is part of a name.
  if (entry.unified && entry.path.ends_with(kDeleted)) {
    entry.path.remove_suffix(kDeleted.size());
    entry.deleted = true;
  }
  return entry;
}

/// A controller is in one hierarchy at a time, so the first one identifies the line.
bool belongs(const ProcCgroup& entry, const Hierarchy& hierarchy) {
  if (entry.unified || hierarchy.unified) return entry.unified && hierarchy.unified;
  return hierarchy.has(entry.controllers.substr(0, entry.controllers.find(',')));
}

/// Calls `act(entry)` for each line.
template <class Act>
Status for_each_line(std::string_view text, Act act) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    const auto entry = parse_entry(line);
    if (!entry) return fail(0, "cgroup: not 'number:controllers:/path': '{}'", escaped(line, 128));
    act(*entry);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return {};
}

}  // namespace

Result<std::vector<ProcCgroup>> parse_proc_cgroup(std::string_view text) {
  std::vector<ProcCgroup> entries;
  auto done = for_each_line(text, [&](const ProcCgroup& entry) { entries.push_back(entry); });
  if (!done) return forward(done.error());
  return entries;
}

Result<std::vector<std::string>> groups_for(const Host& host, std::string_view text) {
  std::vector<std::string> paths(host.hierarchies.size());
  auto done = for_each_line(text, [&](const ProcCgroup& entry) {
    for (std::size_t i = 0; i < paths.size(); ++i)
      if (belongs(entry, host.hierarchies[i])) paths[i] = entry.path;
  });
  if (!done) return forward(done.error());
  return paths;
}

}  // namespace kcg
