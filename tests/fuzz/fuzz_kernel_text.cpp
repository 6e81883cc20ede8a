// SPDX-License-Identifier: Apache-2.0
//
// The small files of the kernel: what is read of /proc/<pid>/status, mappings, pressure, and limits
// as text.
#include "kernel/keyed.hpp"
#include "kernel/limit_text.hpp"
#include "kernel/mappings.hpp"
#include "kernel/pressure.hpp"
#include "kernel/proc_status.hpp"
#include "require.hpp"

namespace {

template <class T>
void well_told(const kcg::Result<T>& result) {
  if (!result) kcg::require_good_text(result.error());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kcg;
  const auto text = text_of(data, size);
  well_told(parse_real_uid(text));
  well_told(parse_blocked_signals(text));
  well_told(parse_charged_memory(text));
  well_told(parse_huge_memory(text));
  well_told(parse_mappings(text));
  well_told(parse_pressure(text));
  const auto blank = text.find(' ');
  const auto rest = blank == std::string_view::npos ? "" : text.substr(blank + 1);
  well_told(keyed_value(text, "oom_kill"));
  well_told(parse_cfs(text.substr(0, blank), rest));
  const auto bandwidth = parse_cpu_max(text);
  well_told(bandwidth);
  if (bandwidth) require(parse_cpu_max(cpu_max_text(*bandwidth)) == *bandwidth, "it round-trips");
  return 0;
}
