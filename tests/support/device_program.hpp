// SPDX-License-Identifier: Apache-2.0
//
// Device programs for tests, and a witness of what is attached: bpf(2) by hand, without any code of
// the product.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.hpp"

namespace kcg::test {

/// Loads a program that forbids one character or block device and allows all others. Throws.
[[nodiscard]] Fd load_device_program(std::uint32_t major, std::uint32_t minor);
/// The kernel's id of a loaded program.
[[nodiscard]] std::uint32_t program_id(const Fd& program);
/// To a cgroup2 directory, with ALLOW_MULTI; 0 or an errno.
[[nodiscard]] int attach_device_program(const std::string& directory, const Fd& program);
/// Ids attached to this very directory, ascending.
[[nodiscard]] std::vector<std::uint32_t> attached_device_programs(const std::string& directory);

}  // namespace kcg::test
