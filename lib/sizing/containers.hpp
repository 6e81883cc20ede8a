// SPDX-License-Identifier: Apache-2.0
//
// Which containers a sandbox has, and which of them count (L3).
#pragma once

#include <string>
#include <vector>

#include "model/bundle.hpp"
#include "model/resources.hpp"

namespace kcg {

/// The bundle of one container; nullptr: none is known.
[[nodiscard]] const Bundle* bundle_of(const SandboxInputs& inputs, const std::string& id);

/// All containers but the pause container, by id, each with the limits of the first source that
/// knows it.
[[nodiscard]] std::vector<Container> known_containers(const SandboxInputs& inputs);
/// Those that count: a stopped one needs nothing.
[[nodiscard]] std::vector<Container> counted_containers(const SandboxInputs& inputs);

}  // namespace kcg
