// SPDX-License-Identifier: Apache-2.0
//
// The files of a scope are systemd's to write (L2): what it is asked for instead, and which text in
// a file counts as done. Names and types are those of org.freedesktop.systemd1(5).
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "model/plan.hpp"

namespace kcg {

/// Value: one property of a unit. A number is of D-Bus type t, UINT64_MAX is "infinity"; bytes are
/// a bit mask of CPUs or memory nodes of type ay, lowest first.
struct UnitProperty {
  std::string name;
  std::variant<std::uint64_t, std::vector<std::uint8_t>> value;
  bool operator==(const UnitProperty&) const = default;
};

/// Kernel files with their texts, v1's and v2's, as properties. EOPNOTSUPP: systemd has no property
/// for a file; EINVAL: the text is not the kernel's.
[[nodiscard]] Result<std::vector<UnitProperty>> unit_properties(
    const std::vector<WantedFile>& files);

/// True when `now` is what systemd and the kernel make of `wanted`. systemd keeps a CPU quota as
/// whole per cents of a CPU: it is asked for the next higher one, and that is no drift.
[[nodiscard]] bool as_systemd_writes(const WantedFile& wanted, const std::string& now);

}  // namespace kcg
