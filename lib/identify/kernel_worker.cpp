// SPDX-License-Identifier: Apache-2.0
#include "identify/kernel_worker.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace kcg {

namespace {

constexpr std::string_view kVhost = "vhost-";
constexpr std::string_view kRecovery = "kvm-nx-lpage-recovery-";
constexpr std::string_view kRecoveryCut = "kvm-nx-lpage-re";

/// Whom it was made for; nullopt: its name does not say it.
std::optional<Pid> maker(std::string_view comm) {
  for (const auto prefix : {kVhost, kRecovery})
    if (comm.starts_with(prefix)) return parse_pid(comm.substr(prefix.size()));
  return std::nullopt;
}

bool has_thread(const Process& process, Pid tid) {
  return process.facts.key.pid == tid ||
         std::any_of(process.threads.begin(), process.threads.end(),
                     [tid](const Thread& thread) { return thread.facts.key.pid == tid; });
}

}  // namespace

std::optional<ThreadClass> kernel_made(std::string_view comm) {
  if (comm.starts_with(kVhost) && maker(comm)) return ThreadClass::io;
  if (comm == kRecoveryCut || (comm.starts_with(kRecovery) && maker(comm))) return ThreadClass::vmm;
  return std::nullopt;
}

bool works_for(const ProcFacts& worker, const std::vector<Process>& proven) {
  if (!worker.kernel_thread || !kernel_made(worker.comm)) return false;
  const auto tid = maker(worker.comm);
  return std::any_of(proven.begin(), proven.end(), [&](const Process& process) {
    return tid ? has_thread(process, *tid) : process.hypervisor != Hypervisor::unknown;
  });
}

}  // namespace kcg
