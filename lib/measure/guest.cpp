// SPDX-License-Identifier: Apache-2.0
#include "measure/guest.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"

namespace kcg {

namespace {

/// No guest of Kata's boots with less; a VMM's stacks and heap do not come to it at its start.
constexpr std::uint64_t kSmallestRam = 32 * kMib;

GuestLook not_known(std::string why) {
  return {GuestMemory::unknown, std::nullopt, std::move(why)};
}

/// `plain`: the private mappings, largest first.
GuestLook private_guest(const std::vector<Mapping>& plain, std::optional<std::uint64_t> ram) {
  if (!ram) return not_known("nobody says how much RAM the VM has");
  std::uint64_t size = 0;
  std::optional<std::uint64_t> resident = 0;
  for (const auto& mapping : plain) {
    if (size >= *ram) break;
    size += mapping.bytes;
    resident =
        resident && mapping.resident ? std::optional(*resident + *mapping.resident) : std::nullopt;
  }
  if (size != *ram)
    return not_known(
        fmt::format("no mappings of the VMM have exactly the size of its RAM, {} bytes", *ram));
  return {GuestMemory::private_memory, resident};
}

}  // namespace

GuestLook guest_in(const std::vector<Mapping>& mappings, std::optional<std::uint64_t> ram,
                   std::uint64_t huge) {
  std::vector<Mapping> writable;
  for (const auto& mapping : mappings)
    if (mapping.writable && (mapping.file || mapping.plain)) writable.push_back(mapping);
  std::stable_sort(writable.begin(), writable.end(),
                   [](const Mapping& a, const Mapping& b) { return a.bytes > b.bytes; });
  const auto least = std::min(ram.value_or(kSmallestRam), kSmallestRam);
  if (writable.empty() || writable.front().bytes < least)
    return not_known("the VMM has mapped no RAM yet");
  const auto& largest = writable.front();
  if (largest.file && huge > 0) return {GuestMemory::hugetlb, std::nullopt};
  if (largest.shared) return {GuestMemory::shared, std::nullopt};
  if (largest.file) return not_known("its RAM is a private mapping of a file");
  std::erase_if(writable, [](const Mapping& mapping) { return !mapping.plain || mapping.shared; });
  return private_guest(writable, ram);
}

}  // namespace kcg
