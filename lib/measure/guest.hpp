// SPDX-License-Identifier: Apache-2.0
//
// How a guest's RAM is mapped, and how much of it is there (L3). The mappings are the VMM's own
// word: a VMM that was taken over can make others. It gains by it that its own overhead is told
// wrongly, and nothing else: no limit follows from what is measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernel/mappings.hpp"
#include "model/usage.hpp"

namespace kcg {

/// Value: what the VMM's mappings say of the guest's RAM.
struct GuestLook {
  GuestMemory memory = GuestMemory::unknown;
  std::optional<std::uint64_t> resident;  ///< private RAM: bytes of it that are there
  std::string unknown = {};               ///< why it is not known, for people
  bool operator==(const GuestLook&) const = default;
};

/// `ram`: bytes of RAM that the VM has, if that is known. `huge`: bytes of hugetlbfs that the VMM
/// has touched.
///
/// The largest writable mapping is RAM; nothing else in a VMM is nearly as large. Private RAM is
/// told apart from the VMM's own memory, which is private too, by its size: its mappings are the
/// largest ones, and together they have exactly the size of the RAM.
[[nodiscard]] GuestLook guest_in(const std::vector<Mapping>& mappings,
                                 std::optional<std::uint64_t> ram, std::uint64_t huge);

}  // namespace kcg
