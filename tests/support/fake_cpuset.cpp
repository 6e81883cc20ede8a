// SPDX-License-Identifier: Apache-2.0
#include "support/fake_cpuset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <set>

#include "base/text.hpp"

namespace kcg::test {

namespace {

using List = std::set<std::uint64_t>;

std::optional<List> parse_list(std::string_view text) {
  List list;
  if (text.empty()) return list;
  for (const auto part : split(text, ',')) {
    const auto dash = part.find('-');
    const auto first = parse_u64(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_u64(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last > 100'000) return std::nullopt;
    for (auto cpu = *first; cpu <= *last; ++cpu) list.insert(cpu);
  }
  return list;
}

std::string text_of(const List& list) {
  std::string text;
  for (auto it = list.begin(); it != list.end();) {
    const auto first = *it;
    auto last = first;
    while (++it != list.end() && *it == last + 1) last = *it;
    text += fmt::format("{}{}", text.empty() ? "" : ",", first);
    if (last != first) text += fmt::format("-{}", last);
  }
  return text;
}

bool within(const List& list, const List& above) {
  return std::includes(above.begin(), above.end(), list.begin(), list.end());
}

/// What the machine has: all CPUs, or the one memory node.
List everything(const Host& host, const std::string& file) {
  List all = {0};
  if (file == "cpuset.cpus")
    for (std::uint64_t cpu = 1; cpu < host.online_cpus; ++cpu) all.insert(cpu);
  return all;
}

List own(const FakeGroup& group, const Host& host, const std::string& file) {
  if (group.parent == nullptr) return everything(host, file);
  const auto it = group.values.find(file);
  return it == group.values.end() ? List{} : *parse_list(it->second);
}

/// v2: what remains of the own list within the parent's, or the parent's where nothing does.
List effective(const FakeGroup& group, const Host& host, const std::string& file) {
  const auto mine = own(group, host, file);
  if (group.parent == nullptr || !group.hierarchy->unified) return mine;
  const auto above = effective(*group.parent, host, file);
  List common;
  std::set_intersection(mine.begin(), mine.end(), above.begin(), above.end(),
                        std::inserter(common, common.end()));
  return common.empty() ? above : common;
}

}  // namespace

int write_cpus(FakeGroup& group, const Host& host, const std::string& file, std::string_view text) {
  if (group.parent == nullptr) return EACCES;
  const auto list = parse_list(text);
  if (!list) return EINVAL;
  const auto all = everything(host, file);
  if (!list->empty() && *list->rbegin() > *all.rbegin())
    return file == "cpuset.cpus" ? ERANGE : EINVAL;
  if (!group.hierarchy->unified) {
    for (const auto& [name, child] : group.children)
      if (!within(own(*child, host, file), *list)) return EBUSY;
    if (!within(*list, own(*group.parent, host, file))) return EACCES;
  }
  if (list->empty() && populated(group) && !own(group, host, file).empty()) return ENOSPC;
  group.values[file] = text_of(*list);
  return 0;
}

std::optional<std::string> read_cpus(const FakeGroup& group, const Host& host,
                                     const std::string& file) {
  if (file == "cpuset.cpus" || file == "cpuset.mems") return text_of(own(group, host, file));
  if (file == "cpuset.cpus.effective" || file == "cpuset.effective_cpus")
    return text_of(effective(group, host, "cpuset.cpus"));
  if (file == "cpuset.mems.effective" || file == "cpuset.effective_mems")
    return text_of(effective(group, host, "cpuset.mems"));
  return std::nullopt;
}

bool cpuset_is_empty(const FakeGroup& group) {
  if (group.parent == nullptr) return false;
  const auto is_set = [&](const char* file) {
    const auto it = group.values.find(file);
    return it != group.values.end() && !it->second.empty();
  };
  return !is_set("cpuset.cpus") || !is_set("cpuset.mems");
}

}  // namespace kcg::test
