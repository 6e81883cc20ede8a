// SPDX-License-Identifier: Apache-2.0
//
// From a process that just executed to the sandbox whose shim it may be (L6). Whoever cannot be a
// shim costs a look at who he is: his arguments are not read, no sandbox is looked at for him.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "model/bundle.hpp"
#include "proc/view.hpp"

namespace kcg {

/// True for the comm of every containerd shim (15 characters are all that the kernel keeps).
[[nodiscard]] bool shim_comm(std::string_view comm);

/// Value: what a process that may be a Kata shim says about itself.
struct ShimClaim {
  SandboxId id;
  std::string directory;  ///< where it works: the bundle, if it tells the truth
};

/// The sandbox whose bundle a directory is; nullopt: nobody's.
using BundleOwner = std::function<std::optional<SandboxId>(const std::string& directory)>;

/// nullopt: it is no long-lived Kata shim of this node. Root's process in the node's namespaces and
/// root directory comes first, then its program, and only then its command line. Where that cannot
/// be read yet, the bundle in which it works says whose shim it may be: the look asks again.
[[nodiscard]] std::optional<ShimClaim> shims_claim(ProcView& proc, Pid pid,
                                                   const BundleOwner& owner);

/// Whether a process is worth a look at its sandbox: it works in the directory of a bundle of this
/// sandbox, or a registration names it.
[[nodiscard]] bool may_be_shim(ProcView& proc, Pid pid, const SandboxInputs& inputs);

}  // namespace kcg
