// SPDX-License-Identifier: Apache-2.0
//
// Observed -> what sizing is asked about (L3): the VM, its history, and the limits above it.
#pragma once

#include "model/observed.hpp"
#include "sizing/sizing.hpp"

namespace kcg {

/// The observed history brought up to date: has a container started?
[[nodiscard]] History current_history(const Observed& observed);

/// All that the VM itself says; layout and parent are left at their defaults.
[[nodiscard]] SizingRequest vm_request(const Observed& observed);

/// For a sandbox whose group is, or would be, `sandbox`.
[[nodiscard]] SizingRequest sizing_request(const Observed& observed, Layout layout,
                                           const CgroupPath& sandbox);

/// What was read of the group and of those above it; nullopt: none of them has a limit.
[[nodiscard]] std::optional<MemoryCeiling> memory_ceiling(const Observed& observed,
                                                          const CgroupPath& group);

/// RAM that a QEMU of these arguments boots with, in bytes; the last -m counts. nullopt: none that
/// can be read.
[[nodiscard]] std::optional<std::uint64_t> qemu_memory(const std::vector<std::string>& args);

}  // namespace kcg
