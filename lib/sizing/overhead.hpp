// SPDX-License-Identifier: Apache-2.0
//
// The annotation that tells a VM's overhead, and who else knows of one (L3).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/bundle.hpp"

namespace kcg {

/// The annotation's MiB, or the rule that it breaks.
[[nodiscard]] Result<std::uint64_t> parse_overhead_annotation(std::string_view text,
                                                              std::uint64_t max_mib);

/// Value: the overhead that a pod was granted, as one source tells it.
struct GrantedOverhead {
  PodAmounts amounts;
  std::string_view source;  ///< "registration", "bundle" or "nri"
};
/// Who counts first: a caller on the bus knows best; CRI-O notes in the bundle what the kubelet
/// told it, and where the engine says something else now, the bundle counts.
[[nodiscard]] std::vector<GrantedOverhead> granted_overheads(const SandboxInputs& inputs);

}  // namespace kcg
