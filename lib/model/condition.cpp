// SPDX-License-Identifier: Apache-2.0
#include "model/condition.hpp"

namespace kcg {

namespace {

constexpr std::array<ConditionInfo, kConditionCount> kConditions = {{
    {ConditionName::invalid_annotation, "InvalidAnnotation", Severity::warning,
     "32833106536e45df80b2d002cc92d33d"},
    {ConditionName::overhead_implausible, "OverheadImplausible", Severity::warning,
     "f08db22fd293456ab170fab23d90fbac"},
    {ConditionName::overhead_exceeded, "OverheadExceeded", Severity::warning,
     "517d59a461ba4cd093bdcc28362886d3"},
    {ConditionName::memory_near_limit, "MemoryNearLimit", Severity::warning,
     "b8505520291c4030ab941bbeee5736d9"},
    {ConditionName::parent_undersized, "ParentUndersized", Severity::error,
     "f3faa8e879ea47238ad5cfbc1d74bd1c"},
    {ConditionName::vm_larger_than_limit, "VmLargerThanLimit", Severity::info,
     "3ce1268c9c8042e3bfec3fee8ed2305d"},
    {ConditionName::limit_below_usage, "LimitBelowUsage", Severity::warning,
     "a93f32a9a17241028e4edc90253d9e30"},
    {ConditionName::arithmetic_overflow, "ArithmeticOverflow", Severity::warning,
     "47aa2dbad9e24c8d809f001680289e32"},
    {ConditionName::quota_clamped, "QuotaClamped", Severity::info,
     "7f453a0ef5094b4f95de6e91074206e2"},
    {ConditionName::controller_missing, "ControllerMissing", Severity::warning,
     "30f47f35d0384cfb8add40e92c34bf1c"},
    {ConditionName::charged_elsewhere, "ChargedElsewhere", Severity::warning,
     "63783933d5f04510bf6af8af81df6383"},
    {ConditionName::threads_unclassified, "ThreadsUnclassified", Severity::warning,
     "1e07ea63524c498f94dc77a72ed0d50a"},
    {ConditionName::threads_unsettled, "ThreadsUnsettled", Severity::warning,
     "42a68fecc75a43c48d0d866b16519537"},
    {ConditionName::contested, "Contested", Severity::warning, "39c0d03234794347b83bea5c88b224f0"},
    {ConditionName::stranger_moved, "StrangerMoved", Severity::error,
     "d86bb32f14b942579266ef64311275fc"},
    {ConditionName::foreign_process, "ForeignProcess", Severity::warning,
     "e6b1e07c8f624cd6b27db193333bd939"},
    {ConditionName::foreign_container, "ForeignContainer", Severity::warning,
     "89eb3061b44a424c9866f05870093d3e"},
    {ConditionName::device_policy_not_carried, "DevicePolicyNotCarried", Severity::error,
     "cd28d864d6e84c6a998f69a0138851b0"},
    {ConditionName::legacy_not_on_v2, "LegacyNotOnV2", Severity::info,
     "36480de2bd5c4366b517da60fb69e070"},
    {ConditionName::legacy_emulated_on_v2, "LegacyEmulatedOnV2", Severity::info,
     "1677cffcd98847c694313a3bbe3e00fc"},
    {ConditionName::layout_changed, "LayoutChanged", Severity::info,
     "d3cdfaf7761348c093af0473184cf29a"},
    {ConditionName::pass_failed, "PassFailed", Severity::error, "9b18b9887fab4e669d435f60ab4a038e"},
    {ConditionName::bundle_unreadable, "BundleUnreadable", Severity::warning,
     "c8c0817cc8144b98aab7658c144f0b6a"},
    {ConditionName::input_unreadable, "InputUnreadable", Severity::warning,
     "3de0e961699745be9ee9f3107c14b394"},
    {ConditionName::node_data_disagrees, "NodeDataDisagrees", Severity::warning,
     "075e7bce4d9b42c7aaaa125490f1a7aa"},
    {ConditionName::write_failed, "WriteFailed", Severity::error,
     "459ccb821b424c79b926a2d089b8a6a0"},
    {ConditionName::scope_failed, "ScopeFailed", Severity::error,
     "eb7361e9c6df4a56a0879a1471dbadab"},
    {ConditionName::removal_blocked, "RemovalBlocked", Severity::warning,
     "59f63b7e1f1940d9b9a5a4fb8d53694c"},
    {ConditionName::oom_killed, "OomKilled", Severity::error, "d40417910e6f41c9879be8e7efd59629"},
    {ConditionName::vmm_ended, "VmmEnded", Severity::warning, "339b1c212d7d4acd8132227a0f67d842"},
}};

}  // namespace

const std::array<ConditionInfo, kConditionCount>& all_conditions() { return kConditions; }

const ConditionInfo& info(ConditionName condition) {
  return kConditions.at(static_cast<std::size_t>(condition));
}

}  // namespace kcg
