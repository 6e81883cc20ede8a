// SPDX-License-Identifier: Apache-2.0
//
// Where the build put the programs that live tests run, found from the test's own executable.
#pragma once

#include <string>

namespace kcg::live {

/// Path below the build directory, e.g. "daemon/kata-cgroupd".
[[nodiscard]] std::string built(const std::string& path);
[[nodiscard]] inline std::string shim_program() {
  return built("tests/support/containerd-shim-kata-v2");
}
[[nodiscard]] inline std::string light_vmm() { return built("tests/support/qemu-system-x86_64"); }
[[nodiscard]] inline std::string impostor() { return built("tests/support/impostor"); }
[[nodiscard]] inline std::string daemon_program() { return built("daemon/kata-cgroupd"); }

}  // namespace kcg::live
