// SPDX-License-Identifier: Apache-2.0
//
// BPF programs of type "cgroup device" on directories of cgroup v2 (L5, internal to cgroup/). The
// only file that knows bpf(2); see docs/decisions/bpf.md. Codes are the kernel's errnos.
#pragma once

#include "base/result.hpp"
#include "model/devices.hpp"

namespace kcg {

/// Attached to this very group. A kernel without such programs has attached none.
[[nodiscard]] Result<DevicePolicy> device_programs(int group_fd);

[[nodiscard]] Status change_device_programs(int group_fd, const DeviceChange& change);

}  // namespace kcg
