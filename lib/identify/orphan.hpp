// SPDX-License-Identifier: Apache-2.0
//
// Whose shim has died before anybody saw it (L3): no living parent vouches for such a process, so
// the place where it is and its own command line have to.
#pragma once

#include <optional>

#include "identify/prove.hpp"

namespace kcg {

/// It may say of itself that it is the sandbox's: an orphan needs no living parent to vouch for it
/// where only root could have put it. Its user proves nothing: Kata can run its VMM as any.
/// `in_our_group`: it is in a group that carries the sandbox's mark. Needs no command line.
[[nodiscard]] bool may_be_orphan(const ProcFacts& who, bool in_our_group);

/// What its command line says it is; nullopt: neither VMM nor virtiofsd of this sandbox. Only for
/// who may_be_orphan().
[[nodiscard]] std::optional<Trusted> orphan(const ProcFacts& facts, const SandboxId& id);

}  // namespace kcg
