// SPDX-License-Identifier: Apache-2.0
//
// What containerd's own config.toml says of Kata's runtimes (L3). Read leniently: the file is
// another product's, of version 1 to 3.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kcg {

/// Value: [plugins.<CRI>.containerd.runtimes.<name>] of a runtime of Kata's.
struct ContainerdRuntime {
  std::string name;
  std::vector<std::string> pod_annotations;  ///< patterns of what reaches Kata
  unsigned line = 0;                         ///< of pod_annotations; 0: not given
  std::string kata_config = {};              ///< options.ConfigPath; "": Kata seeks its own
  bool operator==(const ContainerdRuntime&) const = default;
};
/// Value: what the product reads of it.
struct ContainerdConfigWords {
  std::vector<std::string> imports;  ///< paths with wildcards
  std::vector<ContainerdRuntime> kata;
};
[[nodiscard]] ContainerdConfigWords parse_containerd_config(std::string_view toml);

}  // namespace kcg
