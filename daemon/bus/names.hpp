// SPDX-License-Identifier: Apache-2.0
//
// Names of our D-Bus API (L9). They are part of version 1: never change one.
#pragma once

#include <string>

namespace kcg::bus {

inline constexpr const char* kBusName = "io.katacontainers.CgroupManager1";
inline constexpr const char* kRootPath = "/io/katacontainers/CgroupManager1";
inline constexpr const char* kManagerInterface = "io.katacontainers.CgroupManager1.Manager";
inline constexpr const char* kSandboxInterface = "io.katacontainers.CgroupManager1.Sandbox";
inline constexpr const char* kErrorPrefix = "io.katacontainers.CgroupManager1.Error.";

/// Object path of a sandbox; the id is escaped as sd_bus_path_encode(3) does.
[[nodiscard]] std::string sandbox_path(const std::string& id);

}  // namespace kcg::bus
