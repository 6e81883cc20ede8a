// SPDX-License-Identifier: Apache-2.0
//
// linux.cgroupsPath -> pod cgroup (L2). Pure text; see docs/layouts.md.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "model/bundle.hpp"
#include "model/cgroups_path.hpp"
#include "model/ids.hpp"

namespace kcg {

/// All forms of the table in docs/layouts.md: systemd, absolute, relative, empty.
[[nodiscard]] Result<CgroupsPath> parse_cgroups_path(std::string_view text);

/// The one that counts of all that was said about a sandbox. A look asks once and keeps the answer.
[[nodiscard]] Result<CgroupsPath> cgroups_path_of(const SandboxInputs& inputs);

/// "a-b-c.slice" -> "/a.slice/a-b.slice/a-b-c.slice"; "-.slice" -> "/".
[[nodiscard]] Result<CgroupPath> expand_slice(std::string_view slice);

}  // namespace kcg
