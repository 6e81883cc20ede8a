// SPDX-License-Identifier: Apache-2.0
//
// Which processes belong to a sandbox (L3): proofs from facts, nothing else. See docs/discovery.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_set.hpp"
#include "model/bundle.hpp"
#include "model/process.hpp"

namespace kcg {

/// The value of `-id` of a long-lived Kata shim's command line: executable containerd-shim-kata*,
/// no positional `start` or `delete`. Used to find the sandbox of a shim that just executed.
[[nodiscard]] std::optional<std::string> shim_sandbox_id(const ProcFacts& facts);

/// What no program can forge, and what is read before its command line: root's process, the node's
/// pid and user namespace, pid 1's root directory. nullopt: so it is; else what is not, for people.
[[nodiscard]] std::optional<std::string> node_problem(const ProcFacts& facts);

/// nullopt: but for its command line, it stands where a shim of this sandbox, or of one of its
/// containers, has to: node_problem() and a bundle as working directory; or a registration names
/// it.
[[nodiscard]] std::optional<std::string> standing_problem(const ProcFacts& facts,
                                                          const SandboxInputs& inputs);

/// Of a program's arguments those that anything here, or the size of a VM, is told by; each of them
/// and all together bounded. Whoever keeps a process keeps these.
[[nodiscard]] std::vector<std::string> telling_args(std::string_view exe,
                                                    const std::vector<std::string>& args);

/// nullopt: proven to be the sandbox's shim; else the reason why not, for people.
[[nodiscard]] std::optional<std::string> shim_problem(const ProcFacts& facts,
                                                      const SandboxInputs& inputs);

/// Which VMM of this sandbox the command line says it is (ancestry is not looked at here).
[[nodiscard]] Hypervisor hypervisor_of(const ProcFacts& facts, const SandboxId& id);

/// virtiofsd or nydusd of this sandbox by its command line (ancestry is not looked at here).
[[nodiscard]] bool is_virtiofsd(const ProcFacts& facts, const SandboxId& id);

/// Assigns roles. `candidates`: facts of possible shims and of everything below them, plus tasks in
/// our marked groups; any order. `trusted`: identities proven in an earlier pass (orphans keep
/// their proof), with their roles. Returns the proven ones without threads: shim first, then VMM,
/// then the rest, each by pid. Kernel threads are never proven.
struct Trusted {
  TaskKey key;
  ProcessRole role = ProcessRole::descendant;
  Hypervisor hypervisor = Hypervisor::unknown;
  auto operator<=>(const Trusted&) const = default;
};
[[nodiscard]] std::vector<Process> prove(const SandboxInputs& inputs,
                                         const std::vector<ProcFacts>& candidates,
                                         const FlatSet<Trusted>& trusted = {});

}  // namespace kcg
