// SPDX-License-Identifier: Apache-2.0
#include "sizing/oom.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/amounts.hpp"
#include "base/text.hpp"
#include "kernel/keyed.hpp"
#include "kernel/limit_text.hpp"
#include "sizing/memory.hpp"
#include "sizing/request.hpp"

namespace kcg {

namespace {

constexpr const char* kKillFiles[] = {"memory.events", "memory.oom_control"};

std::optional<std::uint64_t> number(const GroupState& group, const char* v2, const char* v1) {
  auto text = group.file(v2);
  if (!text) text = group.file(v1);
  return text ? parse_u64(*text) : std::nullopt;
}

std::optional<std::uint64_t> limit_of(const GroupState& group) {
  const auto limit = number(group, "memory.max", "memory.limit_in_bytes");
  return limit && *limit < kUnlimitedMemory ? limit : std::nullopt;
}

std::optional<std::uint64_t> usage_of(const GroupState& group) {
  return number(group, "memory.current", "memory.usage_in_bytes");
}

std::optional<std::uint64_t> peak_of(const GroupState& group) {
  return number(group, "memory.peak", "memory.max_usage_in_bytes");
}

std::uint64_t room_left(const GroupState& group, std::uint64_t limit) {
  const auto most = std::max(peak_of(group).value_or(0), usage_of(group).value_or(0));
  return limit - std::min(limit, most);
}

/// The group at whose limit it happened: of the killed one and those above it the fullest, from
/// below. nullptr: none has a limit.
const GroupState* limiting(const Observed& observed, const GroupRef& killed) {
  const GroupState* found = nullptr;
  for (auto path = killed.path;; path = path.parent()) {
    const auto* group = observed.group({killed.hierarchy, path});
    const auto limit = group == nullptr ? std::nullopt : limit_of(*group);
    if (limit &&
        (found == nullptr || room_left(*group, *limit) < room_left(*found, *limit_of(*found))))
      found = group;
    if (path.is_root()) return found;
  }
}

std::string told(std::optional<std::uint64_t> number) {
  return number ? bytes_text(*number) : "not known";
}

/// "its budget is B + S + O = 2048 MiB + (512 MiB) + 350 MiB = 2910 MiB"
std::string budget_text(const MemoryBudget& budget) {
  if (!budget.total) return "its budget has no bound: " + formula_text(budget.formula);
  return fmt::format("its budget is {} = {}", formula_text(budget.formula),
                     bytes_text(*budget.total));
}

std::string text_of(const Config& config, const Observed& observed, const GroupState& killed,
                    std::uint64_t kills) {
  const auto head = fmt::format("the kernel killed {} process{} in {} for lack of memory", kills,
                                kills == 1 ? "" : "es", killed.ref.path.str());
  const auto budget = budget_text(budget_of(config, observed.inputs, vm_request(observed)));
  const auto* at = limiting(observed, killed.ref);
  if (at == nullptr)
    return fmt::format(
        "{}: no group has a limit, so the node itself ran out; usage {}, peak {}; {}", head,
        told(usage_of(killed)), told(peak_of(killed)), budget);
  const bool ours = at->mark == observed.inputs.id.str();
  return fmt::format("{}: {}, {}, allows {}; usage {}, peak {}; {}", head, at->ref.path.str(),
                     ours ? "the sandbox's own group" : "above the sandbox",
                     bytes_text(*limit_of(*at)), told(usage_of(*at)), told(peak_of(*at)), budget);
}

/// Our own group was made for this sandbox: all that it counts is its own.
const GroupState* own_group(const Observed& observed, std::optional<std::uint64_t>& kills) {
  const GroupState* found = nullptr;
  for (const auto& [ref, group] : observed.groups) {
    const auto count = group.mark == observed.inputs.id.str() ? oom_kills(group) : std::nullopt;
    if (!count) continue;
    kills = kills.value_or(0) + *count;
    if (found == nullptr && *count > 0) found = &group;
  }
  return found;
}

/// How many were killed in our own groups in this life. Groups that count less than before were
/// made anew; those that could not be read say nothing.
std::uint64_t own_kills(std::optional<std::uint64_t> count, OomHistory& history) {
  if (!count) return 0;
  if (*count < history.own_seen) history.own_before = 0;
  history.own_seen = *count;
  return *count - std::min(*count, history.own_before);
}

/// v2 counts what happened below, too. Of a pod-less sandbox the group above is everybody's.
const GroupState* pod_group(const Observed& observed) {
  const auto& path = observed.cgroups_path;
  if (!path || !observed.host.unified() || observed.inputs.pod_less()) return nullptr;
  return observed.group({observed.host.hierarchies.front().name, path->pod});
}

}  // namespace

History next_life(const History& ended) {
  History history;
  history.oom.own_seen = history.oom.own_before = ended.oom.own_seen;
  return history;
}

bool tells_oom_kills(std::string_view file) {
  return std::find(std::begin(kKillFiles), std::end(kKillFiles), file) != std::end(kKillFiles);
}

std::optional<std::uint64_t> oom_kills(const GroupState& group) {
  for (const auto* file : kKillFiles)
    if (const auto text = group.file(file))
      if (const auto count = keyed_value(*text, "oom_kill")) return *count;
  return std::nullopt;
}

const std::vector<std::string>& memory_use_files(bool unified) {
  static const std::vector<std::string> v2 = {"memory.max", "memory.current", "memory.peak"};
  static const std::vector<std::string> v1 = {"memory.limit_in_bytes", "memory.usage_in_bytes",
                                              "memory.max_usage_in_bytes"};
  return unified ? v2 : v1;
}

std::optional<Condition> oom_condition(const Config& config, const Observed& observed,
                                       OomHistory& history) {
  std::optional<std::uint64_t> counted;
  const auto* killed = own_group(observed, counted);
  auto kills = own_kills(counted, history);
  const auto* pod = pod_group(observed);
  if (const auto count = pod == nullptr ? std::nullopt : oom_kills(*pod)) {
    if (!history.pod_before) history.pod_before = *count - std::min(*count, kills);
    const auto since = *count - std::min(*count, *history.pod_before);
    if (since > kills) {
      kills = since;
      if (killed == nullptr) killed = pod;
    }
  }
  if (killed != nullptr && kills > history.kills) {
    history.text = text_of(config, observed, *killed, kills);
    history.kills = kills;
  }
  if (history.kills == 0) return std::nullopt;
  return Condition{ConditionName::oom_killed, history.text};
}

}  // namespace kcg
