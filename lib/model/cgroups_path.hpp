// SPDX-License-Identifier: Apache-2.0
//
// What a cgroupsPath says (L1); oci/cgroups_path reads it.
#pragma once

#include <string>

#include "model/enums.hpp"
#include "model/ids.hpp"

namespace kcg {

/// Value: a cgroupsPath taken apart.
struct CgroupsPath {
  Driver driver = Driver::cgroupfs;
  CgroupPath pod;  ///< the pod cgroup (systemd: the slice's directory, expanded)
  CgroupPath
      full;  ///< cgroupfs: the cleaned path P itself; systemd: <slice dir>/<prefix>-<name>.scope
  std::string slice;   ///< systemd: "a-b.slice", else ""
  std::string prefix;  ///< systemd: "cri-containerd", else ""
  std::string name;    ///< systemd: third part; cgroupfs: last component of P
  bool operator==(const CgroupsPath&) const = default;
};

}  // namespace kcg
