// SPDX-License-Identifier: Apache-2.0
//
// Conditions: named statements about a sandbox that somebody should look at (L1).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/enums.hpp"

namespace kcg {

enum class ConditionName : std::uint8_t {
  invalid_annotation,
  overhead_implausible,
  overhead_exceeded,
  memory_near_limit,
  parent_undersized,
  vm_larger_than_limit,
  limit_below_usage,
  arithmetic_overflow,
  quota_clamped,
  controller_missing,
  charged_elsewhere,
  threads_unclassified,
  threads_unsettled,
  contested,
  stranger_moved,
  foreign_process,
  foreign_container,
  device_policy_not_carried,
  legacy_not_on_v2,
  legacy_emulated_on_v2,
  layout_changed,
  pass_failed,
  bundle_unreadable,
  input_unreadable,
  node_data_disagrees,
  write_failed,
  scope_failed,
  removal_blocked,
  oom_killed,
  vmm_ended,
};
inline constexpr std::size_t kConditionCount =
    static_cast<std::size_t>(ConditionName::vmm_ended) + 1;

/// Value: one row of the table of conditions.
struct ConditionInfo {
  ConditionName condition;
  std::string_view name;        ///< "InvalidAnnotation"
  Severity severity;            ///< where the case decides nothing else
  std::string_view message_id;  ///< journal MESSAGE_ID, 32 hex digits
};
/// All conditions in declaration order; the catalog, the man page and the tests use it.
[[nodiscard]] const std::array<ConditionInfo, kConditionCount>& all_conditions();
[[nodiscard]] const ConditionInfo& info(ConditionName condition);

/// Value: a condition that holds, with its numbers and names in the text. How bad it is can depend
/// on the case; the table's severity is what it has unless somebody says otherwise.
struct Condition {
  ConditionName condition{};
  std::string text;
  Severity severity = info(condition).severity;
  bool operator==(const Condition&) const = default;
};

/// Value: a condition in force and since when (wall seconds).
struct ActiveCondition {
  Condition condition;
  std::int64_t since = 0;
  bool operator==(const ActiveCondition&) const = default;
};

}  // namespace kcg
