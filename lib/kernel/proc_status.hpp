// SPDX-License-Identifier: Apache-2.0
//
// /proc/<pid>/status (L2), the part that stat(5) lacks. Source: proc(5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.hpp"

namespace kcg {

/// The real uid: the first number of the line "Uid:".
[[nodiscard]] Result<std::uint32_t> parse_real_uid(std::string_view text);

/// The signals that the thread blocks: line "SigBlk:", bit 0 is signal 1.
[[nodiscard]] Result<std::uint64_t> parse_blocked_signals(std::string_view text);

/// Bytes of memory that somebody is charged for: "RssAnon:" and "RssShmem:", without files and
/// without huge pages of hugetlbfs. A kernel thread has none.
[[nodiscard]] Result<std::uint64_t> parse_charged_memory(std::string_view text);

/// Bytes of huge pages of hugetlbfs: "HugetlbPages:"; 0 where the kernel has none.
[[nodiscard]] Result<std::uint64_t> parse_huge_memory(std::string_view text);

/// In how many pid namespaces the process has an id, from that of /proc on inwards: the numbers of
/// the line "NSpid:"; 0 where there is no such line.
[[nodiscard]] std::size_t pid_namespaces(std::string_view text);

}  // namespace kcg
