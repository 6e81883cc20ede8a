// SPDX-License-Identifier: Apache-2.0
#include "kernel/proc_stat.hpp"
#include "require.hpp"

namespace {

std::string line_of(const kcg::ProcStat& stat) {
  std::string zeros;
  for (int field = 23; field <= 42; ++field) zeros += "0 ";
  return fmt::format("{} ({}) {} {} 0 0 0 0 {} 0 0 0 0 {} {} 0 0 0 0 0 0 {} {}{} 0\n", stat.pid,
                     stat.comm, stat.state, stat.ppid, stat.flags, stat.utime, stat.stime,
                     stat.start, zeros, stat.guest);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kcg;
  const auto stat = parse_proc_stat(text_of(data, size));
  if (!stat) {
    require_good_text(stat.error());
    return 0;
  }
  require(stat->pid > 0 && stat->ppid >= 0, "pids are positive");
  require(parse_proc_stat(line_of(*stat)) == *stat, "the fields round-trip");
  return 0;
}
