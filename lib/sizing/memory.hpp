// SPDX-License-Identifier: Apache-2.0
//
// What memory a sandbox was promised, and what its VM has (L3).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/bundle.hpp"
#include "model/config.hpp"
#include "sizing/sizing.hpp"

namespace kcg {

/// Value: what the guest and the VMM were promised together, B + S + O.
struct MemoryBudget {
  std::optional<std::uint64_t> total;  ///< bytes; absent: unlimited
  std::string formula;                 ///< with its numbers, or why it is unlimited
};
[[nodiscard]] MemoryBudget budget_of(const Config& config, const SandboxInputs& inputs,
                                     const SizingRequest& request);

/// RAM of the VM in bytes: what it booted with and what Kata has plugged in since; nullopt: neither
/// its command line nor Kata's state tells.
[[nodiscard]] std::optional<std::uint64_t> vm_memory(const SandboxInputs& inputs,
                                                     const SizingRequest& request);

}  // namespace kcg
