// SPDX-License-Identifier: Apache-2.0
//
// What the daemon's process costs, read from /proc.
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "kernel/proc_stat.hpp"
#include "model/ticks.hpp"
#include "tools/cgctl/status.hpp"

namespace kcg::cgctl {

namespace {

/// "" where it cannot be read.
std::string content(Pid pid, const char* file) {
  std::ifstream in(fmt::format("/proc/{}/{}", pid, file));
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

}  // namespace

std::optional<DaemonProcess> daemon_process(Pid pid) {
  const auto stat = parse_proc_stat(content(pid, "stat"));
  if (!stat) return std::nullopt;
  DaemonProcess process;
  process.pid = pid;
  process.cpu_usec = (stat->utime + stat->stime) * kUsecPerTick;
  const auto since_boot = SystemClock().now().count() / 1'000'000;
  process.up_seconds = since_boot - static_cast<std::int64_t>(stat->start / kTicksPerSecond);
  const auto statm = content(pid, "statm");
  const auto pages = words(statm);
  if (pages.size() > 1)
    process.memory_bytes =
        parse_u64(pages[1]).value_or(0) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return process;
}

}  // namespace kcg::cgctl
