// SPDX-License-Identifier: Apache-2.0
//
// The steps of sizing (L3, internal to sizing/): checked arithmetic, the overhead, the sums over
// containers, the weight curves, what can be written, and the checks that need no write.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "kernel/limit_text.hpp"
#include "sizing/sizing.hpp"

namespace kcg::sizing {

/// Bounds of cpu.shares, the kernel's own.
inline constexpr std::uint64_t kMinShares = 2;
inline constexpr std::uint64_t kMaxShares = 262'144;

using Amount = std::optional<std::uint64_t>;  ///< nullopt: unlimited

/// nullopt on overflow.
[[nodiscard]] std::optional<std::uint64_t> add(std::uint64_t a, std::uint64_t b);
[[nodiscard]] std::optional<std::uint64_t> multiply(std::uint64_t a, std::uint64_t b);
[[nodiscard]] std::optional<std::uint64_t> round_up(std::uint64_t value, std::uint64_t step);
/// Quota of any period as microseconds per 100 ms, rounded up.
[[nodiscard]] std::optional<std::uint64_t> per_100ms(std::uint64_t quota, std::uint64_t period);

/// Value: the overhead with where it came from.
struct OverheadChoice {
  Overhead value;
  Explanation::Input memory;  ///< for derivations
  Explanation::Input cpu;
  Explanation::Input others;  ///< what the sources say that were not chosen
  std::vector<Condition> conditions;
};
[[nodiscard]] OverheadChoice choose_overhead(const Config& config, const SandboxInputs& inputs,
                                             bool local_vmm);

/// Value: B, what the VM boots with, and who says so.
struct BootMemory {
  std::uint64_t bytes = 0;
  Explanation::Input input;  ///< for derivations
  std::vector<Condition> conditions;
};
[[nodiscard]] BootMemory boot_memory(const SandboxInputs& inputs, const SizingRequest& request);
/// Bytes that Kata says it has plugged in on top.
[[nodiscard]] std::uint64_t plugged_memory(const SandboxInputs& inputs);

/// Value: one sum. Without `value` it is unlimited, and `formula` says why.
struct Sum {
  Amount value;
  std::string formula;
  std::vector<Explanation::Input> inputs;
};

/// Value: all sums over the containers that count.
struct Sums {
  Sum memory_now;  ///< without history
  Sum memory;      ///< S
  Sum quota;       ///< Q, microseconds per 100 ms
  Sum shares;      ///< without `value`: nobody asked for any
  std::string cpus;
  std::string mems;
  std::map<std::string, std::uint64_t> hugepages;
  std::map<std::string, std::vector<Explanation::Input>> hugepage_inputs;
  std::vector<Condition> conditions;
};
[[nodiscard]] Sums sum_up(const SandboxInputs& inputs, const History& history);

/// B + S + O, with all that it was made of; unlimited where S is, or beyond 64 bits
/// (ArithmeticOverflow). S counts for no less than what Kata says that it has plugged in.
[[nodiscard]] Sum memory_budget(const SandboxInputs& inputs, const BootMemory& boot,
                                const Sum& containers, const OverheadChoice& overhead,
                                std::vector<Condition>& conditions);

/// cpu.weight for `shares`, on the curve that reproduces the pod cgroup's own weight.
[[nodiscard]] std::uint64_t weight_like_parent(std::uint64_t shares, const SizingParent& parent,
                                               std::uint64_t overhead_cpu_milli);

/// Value: what may be written of an amount, or the reason why nothing is.
struct Bound {
  Amount value;
  std::string formula;
};
/// Rounded up to pages; what the kernel takes for "unlimited" is none.
[[nodiscard]] Bound memory_bound(std::uint64_t bytes, const std::string& formula,
                                 std::uint64_t page_size);
/// The sandbox group's: the budget, but no tighter than the smallest limit above.
[[nodiscard]] Bound memory_limit(const SandboxInputs& inputs, const Sum& budget,
                                 const SizingRequest& request);
/// Within the kernel's own bounds, and on v1 within what the ancestors allow (QuotaClamped).
[[nodiscard]] Bound quota_bound(std::uint64_t microseconds, std::string formula,
                                const SizingRequest& request, GroupRole role,
                                std::vector<Condition>& conditions);

/// ParentUndersized. `sum` is S.
void check_parent(const SizingRequest& request, const OverheadChoice& overhead, Amount sum,
                  std::vector<Condition>& conditions);
/// VmLargerThanLimit. `own` is the sandbox group's limit.
void check_vm(const SandboxInputs& inputs, const SizingRequest& request,
              const OverheadChoice& overhead, Amount own, std::vector<Condition>& conditions);

}  // namespace kcg::sizing
