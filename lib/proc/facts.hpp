// SPDX-License-Identifier: Apache-2.0
//
// Facts of one process through its pinned /proc directory (L4, internal to proc/). The descriptor
// stands for that very process: once it has ended every read fails, whoever got its pid.
#pragma once

#include <cstdint>
#include <string>

#include "base/dir.hpp"
#include "kernel/proc_stat.hpp"
#include "model/process.hpp"

namespace kcg {

/// Value: namespaces and root directory of this process, to compare others with.
struct OwnIdentity {
  std::string pid_ns;  ///< "pid:[4026531836]"
  std::string user_ns;
  std::uint64_t root_device = 0;
  std::uint64_t root_inode = 0;
};

[[nodiscard]] Result<OwnIdentity> read_own_identity(const std::string& proc_root);

/// What a zombie or a kernel thread does not have (executable, arguments, ...) stays empty.
/// ESRCH: it has ended.
[[nodiscard]] Result<ProcFacts> read_facts(const Dir& process, const ProcStat& stat,
                                           const OwnIdentity& own);

}  // namespace kcg
