// SPDX-License-Identifier: Apache-2.0
//
// linux.cgroupsPath -> pod cgroup (L2). Pure text; see docs/layouts.md.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
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

/// All forms of the table in docs/layouts.md: systemd, absolute, relative, empty.
[[nodiscard]] Result<CgroupsPath> parse_cgroups_path(std::string_view text);

/// "a-b-c.slice" -> "/a.slice/a-b.slice/a-b-c.slice"; "-.slice" -> "/".
[[nodiscard]] Result<CgroupPath> expand_slice(std::string_view slice);

}  // namespace kcg
