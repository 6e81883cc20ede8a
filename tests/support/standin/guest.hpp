// SPDX-License-Identifier: Apache-2.0
//
// A firmware image for the guest: without SeaBIOS a VM is quiet, or busy on every vCPU, from its
// first millisecond on, and no test pays for a BIOS that looks for disks.
#pragma once

#include <cstdint>
#include <string>

#include "options.hpp"

namespace kcg::standin {

/// 64 KiB, mapped by QEMU's -bios to the top of the first megabyte and of the address space.
[[nodiscard]] std::string firmware(Guest guest, std::uint32_t memory_mib);

}  // namespace kcg::standin
