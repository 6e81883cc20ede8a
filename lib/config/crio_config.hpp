// SPDX-License-Identifier: Apache-2.0
//
// What CRI-O's own crio.conf, or one of its drop-ins, says of Kata's runtimes (L3). Read leniently:
// the file is another product's. CRI-O takes annotations of its own off a pod and hands on all
// others, whatever allowed_annotations lists, so that nothing is read of that.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kcg {

/// Value: [crio.runtime.runtimes.<name>] of a runtime of Kata's.
struct CrioRuntime {
  std::string name;
  std::string kata_config;  ///< runtime_config_path: Kata's configuration; "": Kata seeks its own
  bool operator==(const CrioRuntime&) const = default;
};
/// Value: what the product reads of it.
struct CrioConfigWords {
  std::string cgroup_manager;  ///< "systemd", "cgroupfs"; "": not given
  std::vector<CrioRuntime> kata;
};
[[nodiscard]] CrioConfigWords parse_crio_config(std::string_view toml);

}  // namespace kcg
