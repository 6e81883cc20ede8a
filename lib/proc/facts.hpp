// SPDX-License-Identifier: Apache-2.0
//
// Facts of one process through its pinned /proc directory (L5, internal to proc/). The descriptor
// stands for that very process: once it has ended every read fails, whoever got its pid.
#pragma once

#include <string>

#include "base/dir.hpp"
#include "kernel/proc_stat.hpp"
#include "model/process.hpp"

namespace kcg {

/// Value: our namespaces and pid 1's root directory, to compare others with.
struct OwnIdentity {
  std::string pid_ns;  ///< "pid:[4026531836]"
  std::string user_ns;
  FileId root;
};

[[nodiscard]] Result<OwnIdentity> read_own_identity(const std::string& proc_root);

/// All but the command line: nothing here waits for the process's memory. What a zombie or a kernel
/// thread does not have (executable, ...) stays empty. ESRCH: it has ended.
[[nodiscard]] Result<ProcFacts> read_identity(const Dir& process, const ProcStat& stat,
                                              const OwnIdentity& own);

}  // namespace kcg
