// SPDX-License-Identifier: Apache-2.0
//
// `status`, also plain `cgctl`: how the daemon is, and whether anybody needs a look. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/view.hpp"
#include "tools/cgctl/table.hpp"
#include "tools/cgctl/verbs.hpp"

namespace kcg::cgctl {

/// Value: what the daemon's process costs, from /proc.
struct DaemonProcess {
  Pid pid = 0;
  std::int64_t up_seconds = 0;
  std::uint64_t cpu_usec = 0;
  std::uint64_t memory_bytes = 0;
  bool operator==(const DaemonProcess&) const = default;
};

/// nullopt: there is none of this number, or /proc is not this node's.
[[nodiscard]] std::optional<DaemonProcess> daemon_process(Pid pid);

/// Value: how long vCPU threads have waited for their place since the daemon's start.
struct PlacementTimes {
  std::uint64_t count = 0;
  std::uint64_t half_usec = 0;         ///< half of them waited no longer
  std::uint64_t ninety_nine_usec = 0;  ///< 99 of 100 waited no longer
  std::uint64_t sum_usec = 0;
  std::map<std::uint64_t, std::uint64_t> within =
      {};  ///< by microseconds: how many waited no longer
  bool operator==(const PlacementTimes&) const = default;
};

/// Value: what is known of the daemon.
struct DaemonState {
  bool asked = true;  ///< false: --no-daemon
  bool running = false;
  std::string why_not;                   ///< of one that was asked in vain
  std::string version, mode, hierarchy;  ///< as on the bus; "" where it does not run
  std::vector<std::string> problems;
  std::map<std::string, std::string> parts;  ///< "working", "fallback", "down", "off" by name
  std::optional<PlacementTimes> placements;
  std::map<std::string, std::uint64_t> raised = {};  ///< conditions since its start, by name
  std::optional<DaemonProcess> process;
};

inline constexpr const char* kObserveNote = "observe: nothing is written";

/// `brief`: what plain `cgctl` says.
[[nodiscard]] Answer status_answer(const Options& options, const Style& style,
                                   const DaemonState& daemon,
                                   const std::vector<SandboxView>& views);
/// "daemon running, enforcing": beside a list in which all is well. "" if the daemon was not asked.
[[nodiscard]] std::string daemon_words(const DaemonState& daemon);
/// A document with "daemon" in it; unchanged if the daemon was not asked.
[[nodiscard]] std::string with_daemon(const std::string& document, const DaemonState& daemon);

}  // namespace kcg::cgctl
