// SPDX-License-Identifier: Apache-2.0
//
// The kernel's limit files as people read them. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/view.hpp"

namespace kcg::cgctl {

/// "at most 862 MiB", "at most 1.00 CPU", "weight 200", "CPUs 0-3"; "no limit"; nullopt where only
/// the kernel's own text says it.
[[nodiscard]] std::optional<std::string> limit_text(const std::string& key,
                                                    const std::string& value);
/// Of all limits of a group those that limit something, but for its memory.
[[nodiscard]] std::vector<std::string> limit_texts(
    const std::map<std::string, std::string>& limits);
/// "at most 862 MiB, 1.25 CPU", "no limit" of memory and CPU; "" where neither file is known.
[[nodiscard]] std::string ceiling_text(const std::map<std::string, std::string>& limits);
/// "14 of 862 MiB", "14 MiB, no limit"; "" where neither is known.
[[nodiscard]] std::string memory_text(const std::optional<std::uint64_t>& used,
                                      const std::optional<std::uint64_t>& limit);
/// " = 512 containers + 350 overhead"; "" where the limit is not the sum of these.
[[nodiscard]] std::string memory_sum_text(const SandboxView& view);
/// "cpu.max=max 100000  cpu.weight=200": what the kernel's files hold.
[[nodiscard]] std::string raw_text(const std::map<std::string, std::string>& limits);

}  // namespace kcg::cgctl
