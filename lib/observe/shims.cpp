// SPDX-License-Identifier: Apache-2.0
#include "observe/shims.hpp"

#include "identify/prove.hpp"
#include "identify/recognise.hpp"

namespace kcg {

bool shim_comm(std::string_view comm) { return comm.starts_with("containerd-shim"); }

std::optional<ShimClaim> shims_claim(ProcView& proc, Pid pid, const BundleOwner& owner) {
  const auto who = proc.identity(pid);
  if (!who || node_problem(*who) || !names_kata_shim(who->exe)) return std::nullopt;
  const auto facts = proc.facts(pid);
  if (!facts) return std::nullopt;
  if (!facts->args_unknown.empty()) {
    const auto id = owner(facts->cwd);
    return id ? std::optional(ShimClaim{*id, facts->cwd}) : std::nullopt;
  }
  const auto text = shim_sandbox_id(*facts);
  const auto id = text ? SandboxId::parse(*text) : fail(0, "none");
  if (!id) return std::nullopt;
  return ShimClaim{*id, facts->cwd};
}

bool may_be_shim(ProcView& proc, Pid pid, const SandboxInputs& inputs) {
  const auto who = proc.identity(pid);
  return who && !standing_problem(*who, inputs);
}

}  // namespace kcg
