// SPDX-License-Identifier: Apache-2.0
//
// What a command line says: the first line is the executable, the rest is /proc/<pid>/cmdline.
#include <numeric>

#include "identify/prove.hpp"
#include "kernel/cmdline.hpp"
#include "require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kcg;
  const auto text = text_of(data, size);
  const auto end = text.find('\n');
  if (end == std::string_view::npos) return 0;
  ProcFacts facts;
  facts.exe = text.substr(0, end);
  const auto args = split_cmdline(text.substr(end + 1));
  facts.args = telling_args(facts.exe, args);
  const auto bytes =
      std::accumulate(facts.args.begin(), facts.args.end(), std::size_t{0},
                      [](std::size_t sum, const std::string& arg) { return sum + arg.size(); });
  require(bytes <= size, "nothing is added");
  require(telling_args(facts.exe, facts.args) == facts.args, "what tells, tells again");
  const auto id = SandboxId::parse("0123456789abcdef0123456789abcdef").value();
  const auto sandbox = shim_sandbox_id(facts);
  const auto vmm = hypervisor_of(facts, id);
  const auto files = is_virtiofsd(facts, id);
  auto whole = facts;
  whole.args = args;
  require(!sandbox || (!sandbox->empty() && shim_sandbox_id(whole) == sandbox), "one id by either");
  // Whatever was left out tells nothing, unless it exceeded the bound.
  require(vmm == Hypervisor::unknown || hypervisor_of(whole, id) == vmm, "no VMM by omission");
  require(!files || is_virtiofsd(whole, id), "no file server by omission");
  return 0;
}
