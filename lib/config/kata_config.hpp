// SPDX-License-Identifier: Apache-2.0
//
// What Kata's own configuration.toml says (L3). Read leniently: the file is another product's.
#pragma once

#include <optional>
#include <string_view>

namespace kcg {

/// [runtime] sandbox_cgroup_only; nullopt: not given, not a flag, or the text is not TOML.
[[nodiscard]] std::optional<bool> kata_sandbox_cgroup_only(std::string_view toml);

}  // namespace kcg
