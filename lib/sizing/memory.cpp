// SPDX-License-Identifier: Apache-2.0
//
// B + S + O, and what is written of it. The limit holds the overhead; it never takes away what Kata
// gave the guest, nor what the kubelet granted the pod.
#include "sizing/memory.hpp"

#include "base/amounts.hpp"
#include "sizing/parts.hpp"

namespace kcg::sizing {

namespace {

/// The limit above, and what it means for ours.
Bound beside_parent(Bound own, const SizingParent& parent, std::uint64_t page_size) {
  if (!own.value || !parent.smallest_memory_max) return own;
  const auto above = *parent.smallest_memory_max;
  if (above > *own.value)
    return memory_bound(above,
                        fmt::format("P, the limit of {}, which is more than {}: P",
                                    parent.smallest_memory_group, own.formula),
                        page_size);
  if (above < *own.value)
    own.formula +=
        fmt::format("; {} allows less and acts first: P = {}", parent.smallest_memory_group, above);
  return own;
}

}  // namespace

Sum memory_budget(const SandboxInputs& inputs, const BootMemory& boot, const Sum& containers,
                  const OverheadChoice& overhead, std::vector<Condition>& conditions) {
  Sum out;
  out.inputs = containers.inputs;
  out.inputs.insert(out.inputs.begin(), boot.input);
  out.inputs.push_back(overhead.memory);
  out.inputs.push_back(overhead.others);
  if (!containers.value) {
    out.formula = containers.formula;
    return out;
  }
  auto plugged = *containers.value;
  auto text = fmt::format("({})", containers.formula);
  // Kata plugs whole memory blocks, and does not take back what an ended container had.
  if (const auto told = plugged_memory(inputs); told > plugged) {
    text = fmt::format("({} that Kata has plugged in, more than {})", told, containers.formula);
    plugged = told;
  }
  out.formula =
      fmt::format("B + S + O = {} + {} + {}", boot.bytes, text, overhead.value.memory_bytes);
  const auto guest = add(boot.bytes, plugged);
  out.value = guest ? add(*guest, overhead.value.memory_bytes) : std::nullopt;
  if (out.value) return out;
  out.formula += ": exceeds 64 bits, so unlimited";
  conditions.push_back(
      {ConditionName::arithmetic_overflow,
       fmt::format("{} of boot memory, {} of the containers and {} of overhead exceed 64 "
                   "bits; the sandbox's memory counts as unlimited",
                   bytes_text(boot.bytes), bytes_text(plugged),
                   bytes_text(overhead.value.memory_bytes))});
  return out;
}

Bound memory_limit(const SandboxInputs& inputs, const Sum& budget, const SizingRequest& request) {
  if (!budget.value) return {std::nullopt, budget.formula};
  auto own = memory_bound(*budget.value, budget.formula, request.page_size);
  // The group above a pod-less sandbox is nobody's pod.
  return inputs.pod_less() ? own : beside_parent(std::move(own), request.parent, request.page_size);
}

}  // namespace kcg::sizing

namespace kcg {

MemoryBudget budget_of(const Config& config, const SandboxInputs& inputs,
                       const SizingRequest& request) {
  std::vector<Condition> told_elsewhere;
  auto budget = sizing::memory_budget(
      inputs, sizing::boot_memory(inputs, request), sizing::sum_up(inputs, request.history).memory,
      sizing::choose_overhead(config, inputs, request.local_vmm), told_elsewhere);
  return {budget.value, std::move(budget.formula)};
}

std::optional<std::uint64_t> vm_memory(const SandboxInputs& inputs, const SizingRequest& request) {
  auto boot = request.vmm_memory;
  if (inputs.kata && inputs.kata->boot_memory_mib > 0)
    boot = sizing::multiply(inputs.kata->boot_memory_mib, kMib);
  return boot ? sizing::add(*boot, sizing::plugged_memory(inputs)) : std::nullopt;
}

}  // namespace kcg
