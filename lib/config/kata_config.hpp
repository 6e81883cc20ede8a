// SPDX-License-Identifier: Apache-2.0
//
// What Kata's own configuration.toml says (L3). Read leniently: the file is another product's.
#pragma once

#include <optional>
#include <string_view>

namespace kcg {

/// Value: [runtime] sandbox_cgroup_only, and the line where it stands.
struct KataConfigWord {
  bool only = false;
  unsigned line = 0;
  bool operator==(const KataConfigWord&) const = default;
};
/// nullopt: not given, not a flag, or the text is not TOML.
[[nodiscard]] std::optional<KataConfigWord> kata_sandbox_cgroup_only(std::string_view toml);

}  // namespace kcg
