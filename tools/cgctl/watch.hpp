// SPDX-License-Identifier: Apache-2.0
//
// `watch`: the daemon's signals, and how they look as lines.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.hpp"
#include "model/sandbox_history.hpp"
#include "tools/cgctl/options.hpp"
#include "tools/cgctl/render.hpp"

namespace kcg::cgctl {

/// Value: one of the daemon's signals.
struct Event {
  enum class Kind : unsigned char { added, removed, state, condition, happened, daemon };
  Kind kind = Kind::added;
  std::string id;
  std::string before, after;              ///< of the state
  std::string condition, severity, text;  ///< of the condition
  bool active = false;                    ///< the condition holds, the daemon runs
  SandboxHistory history;                 ///< happened: with this one event
};

/// Calls `told` for each event on the bus until it says no. The first one says that the daemon
/// runs, when nothing is missed any more. Returns when the bus is lost, too.
[[nodiscard]] Status watch_bus(const std::string& address,
                               const std::function<bool(const Event&)>& told);

/// One line, on a terminal where it does not fit more of them, or with --json one object on a line.
/// `title` is "" where the pod is not known.
[[nodiscard]] std::string event_line(const Options& options, const Style& style, const Event& event,
                                     const std::string& title, std::int64_t now);

}  // namespace kcg::cgctl
