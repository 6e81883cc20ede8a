// SPDX-License-Identifier: Apache-2.0
//
// What can be written of an amount, and what is wrong even without a write.
#include <algorithm>

#include "base/amounts.hpp"
#include "sizing/memory.hpp"
#include "sizing/parts.hpp"

namespace kcg::sizing {

namespace {

constexpr std::uint64_t kMinQuotaUs = 1000;
/// The kernel refuses more: 44 bits of microseconds.
constexpr std::uint64_t kMaxQuotaUs = (std::uint64_t{1} << 44) - 1;

}  // namespace

std::uint64_t plugged_memory(const SandboxInputs& inputs) {
  const auto mib = inputs.kata ? inputs.kata->hotplugged_memory_mib : 0;
  return multiply(mib, kMib).value_or(kUnlimitedMemory);
}

Bound memory_bound(std::uint64_t bytes, const std::string& formula, std::uint64_t page_size) {
  if (bytes == 0) return {std::nullopt, formula + " = 0, which no VM needs, so unlimited"};
  const auto rounded = round_up(bytes, page_size).value_or(kUnlimitedMemory);
  if (rounded >= kUnlimitedMemory)
    return {std::nullopt, formula + ": more than the kernel can limit, so unlimited"};
  if (rounded == bytes) return {rounded, fmt::format("{} = {}", formula, bytes)};
  return {rounded, fmt::format("{} = {}, rounded up to pages of {}: {}", formula, bytes, page_size,
                               rounded)};
}

Bound quota_bound(std::uint64_t microseconds, std::string formula, const SizingRequest& request,
                  GroupRole role, std::vector<Condition>& conditions) {
  formula += fmt::format(" = {} us per {} us", microseconds, kPeriodUs);
  if (microseconds > kMaxQuotaUs)
    return {std::nullopt, formula + ": more than the kernel can limit, so unlimited"};
  const auto quota = std::max(microseconds, kMinQuotaUs);
  if (quota != microseconds) formula += fmt::format(", at least {}", kMinQuotaUs);
  const auto most = request.parent.smallest_quota_us.value_or(kMaxQuotaUs);
  if (request.unified || quota <= most) return {quota, formula};
  conditions.push_back(
      {ConditionName::quota_clamped,
       fmt::format("the {} group should get {} us of CPU per {} us, an ancestor allows {}",
                   name(role), quota, kPeriodUs, most)});
  // A quota below the kernel's smallest cannot be written; the ancestor's holds anyway.
  if (most < kMinQuotaUs)
    return {std::nullopt, formula + fmt::format(", left to the ancestor's {}", most)};
  return {most, formula + fmt::format(", clamped to an ancestor's {}", most)};
}

void check_parent(const SizingRequest& request, const OverheadChoice& overhead, Amount sum,
                  std::vector<Condition>& conditions) {
  const auto need = sum ? add(*sum, overhead.value.memory_bytes) : std::nullopt;
  if (!need || !request.parent.smallest_memory_max) return;
  const auto have = *request.parent.smallest_memory_max;
  if (have >= *need) return;
  const auto source = overhead.value.source;
  const bool declared = source == OverheadSource::annotation || source == OverheadSource::pod;
  conditions.push_back(
      {ConditionName::parent_undersized,
       fmt::format("{} allows {} of memory, the containers and their overhead need {}, of "
                   "which {} are overhead{}: give the RuntimeClass an overhead",
                   request.parent.smallest_memory_group, bytes_text(have), bytes_text(*need),
                   bytes_text(overhead.value.memory_bytes), declared ? "" : " by our guess"),
       declared ? Severity::error : Severity::info});
}

void check_vm(const SandboxInputs& inputs, const SizingRequest& request,
              const OverheadChoice& overhead, Amount own, std::vector<Condition>& conditions) {
  const auto ram = vm_memory(inputs, request);
  if (!ram) return;
  const auto& parent = request.parent;
  const auto above = parent.smallest_memory_max.value_or(kUnlimitedMemory);
  const auto limit = std::min(above, own.value_or(kUnlimitedMemory));
  const auto need = add(*ram, overhead.value.memory_bytes).value_or(kUnlimitedMemory);
  if (limit >= kUnlimitedMemory || need <= limit) return;
  conditions.push_back(
      {ConditionName::vm_larger_than_limit,
       fmt::format("the VM has {} of RAM and needs {} with its overhead, {} allows {}: a "
                   "guest that uses all of it is killed (Kata's default_memory is not part of "
                   "what a pod is granted)",
                   bytes_text(*ram), bytes_text(need),
                   limit == above ? parent.smallest_memory_group : "the sandbox group",
                   bytes_text(limit))});
}

}  // namespace kcg::sizing
