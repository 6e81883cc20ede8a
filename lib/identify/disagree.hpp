// SPDX-License-Identifier: Apache-2.0
//
// Do the bundle and what the engine told through NRI speak of the same pod (L3)?
#pragma once

#include <optional>

#include "model/bundle.hpp"
#include "model/condition.hpp"

namespace kcg {

/// NodeDataDisagrees, with both words of the first thing that differs; nullopt: what both tell is
/// the same. What one of them leaves out is no difference.
[[nodiscard]] std::optional<Condition> node_data_disagreement(const SandboxInputs& inputs);

}  // namespace kcg
