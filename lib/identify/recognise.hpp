// SPDX-License-Identifier: Apache-2.0
//
// Which bundle is what (L3): bundles that claim a sandbox are joined to it or refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/bundle.hpp"
#include "model/condition.hpp"

namespace kcg {

/// Value: a bundle that claims a sandbox and was refused.
struct IgnoredBundle {
  Bundle bundle;
  std::string why;
};

/// Value: the outcome of assemble().
struct Assembled {
  SandboxInputs inputs;
  std::vector<Condition> conditions;   ///< ForeignContainer, and the bundles' complaints
  std::vector<IgnoredBundle> ignored;  ///< for `list --all`
};

/// Joins all bundles that claim sandbox `id` (its own and its containers'; any order). Of two
/// bundles that are both the sandbox (same id in two namespaces) `preferred_ns` wins, else the
/// first by directory; the other one is ignored with a text.
[[nodiscard]] Assembled assemble(const SandboxId& id, const std::vector<Bundle>& claiming,
                                 const std::optional<std::string>& preferred_ns = std::nullopt);

/// Whether this is certainly Kata's without looking at processes: by Kata's state, a
/// shim-binary-path that names containerd-shim-kata*, or a registration.
[[nodiscard]] bool proves_kata(const SandboxInputs& inputs);

/// True for ".../containerd-shim-kata-v2" and other names that start with containerd-shim-kata.
[[nodiscard]] bool names_kata_shim(std::string_view executable);

/// True for any other runtime's shim that keeps to containerd's naming: containerd-shim-runc-v2.
[[nodiscard]] bool names_other_shim(std::string_view executable);

}  // namespace kcg
