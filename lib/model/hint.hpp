// SPDX-License-Identifier: Apache-2.0
//
// Hints (L1): what the sources tell the reconciler. A hint is never trusted: it only says where to
// look. Losing one costs time, never correctness.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "model/ids.hpp"

namespace kcg {

enum class HintKind : std::uint8_t {
  bundle,       ///< `text` = bundle directory that changed, appeared or vanished
  kata_state,   ///< `text` = sandbox id whose state changed
  group,        ///< `text` = sandbox id one of whose groups was written or removed
  population,   ///< `text` = sandbox id one of whose groups was emptied, or is not empty any more
  made_group,   ///< `text` = sandbox id for which somebody has made a group: no other has changed
  exec,         ///< `pid` executed a program
  thread,       ///< `pid` (thread group) has a new thread or vCPU, or a thread named itself
  process_end,  ///< a watched shim or VMM ended; `text` = sandbox id
  job,          ///< systemd has done, or refused, what it was asked for; `text` = the unit
  rescan,       ///< a source lost events: look at everything
};

/// Value: see the head of the file.
struct Hint {
  HintKind kind = HintKind::rescan;
  std::string text;
  Pid pid = 0;
  std::string problem = {};     ///< job: why it was not done, in systemd's words; "" = it was
  Instant at = Instant::max();  ///< thread: when the last of it happened; max: nobody knows
  std::vector<Pid> tids = {};   ///< thread: which; none: it may be any, or a vCPU
  bool operator==(const Hint&) const = default;
};

}  // namespace kcg
