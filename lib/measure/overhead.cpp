// SPDX-License-Identifier: Apache-2.0
#include "measure/overhead.hpp"

#include <string>
#include <utility>

#include "base/text.hpp"
#include "kernel/keyed.hpp"

namespace kcg {

namespace {

using Number = std::optional<std::uint64_t>;

Number keyed(std::string_view text, std::string_view key) {
  const auto value = keyed_value(text, key);
  return value ? Number(*value) : std::nullopt;
}

Number sum(const Number& a, const Number& b) {
  if (!a || !b || *a + *b < *a) return std::nullopt;
  return *a + *b;
}

/// nullopt: there is not so much.
Number less(const Number& from, const Number& part) {
  if (!from || !part || *part > *from) return std::nullopt;
  return *from - *part;
}

/// The guest's part of what the group is charged with.
Number guest_of(const MemoryCounters& counters, const GuestLook& guest, std::string& unknown) {
  switch (guest.memory) {
    case GuestMemory::shared:
      return counters.shared;
    case GuestMemory::hugetlb:
      return counters.hugetlb.value_or(0);
    case GuestMemory::private_memory:
      if (!guest.resident)
        unknown = guest.unknown.empty() ? "its RAM has not been looked at yet" : guest.unknown;
      if (!guest.resident || !counters.anonymous) return std::nullopt;
      if (*guest.resident <= *counters.anonymous) return guest.resident;
      unknown = "part of its RAM is charged to another group";
      return std::nullopt;
    case GuestMemory::unknown:
      unknown = guest.unknown;
  }
  return std::nullopt;
}

}  // namespace

MemoryCounters memory_counters(bool unified, std::string_view usage, std::string_view stat) {
  const std::string prefix = unified ? "" : "total_";
  MemoryCounters counters;
  counters.used = parse_u64(trim(usage));
  counters.files = sum(keyed(stat, prefix + "inactive_file"), keyed(stat, prefix + "active_file"));
  counters.shared = keyed(stat, prefix + "shmem");
  counters.anonymous = keyed(stat, unified ? "anon" : "total_rss");
  if (unified) counters.hugetlb = keyed(stat, "hugetlb");
  return counters;
}

MemoryUse memory_use(const MemoryCounters& counters, const GuestLook& guest) {
  MemoryUse use;
  use.guest_memory = guest.memory;
  use.used = counters.used;
  use.cache = counters.files;
  use.guest = guest_of(counters, guest, use.unknown);
  use.overhead = less(less(use.used, use.guest), use.cache);
  if (use.overhead)
    use.unknown.clear();
  else if (use.unknown.empty())
    use.unknown = use.used && use.guest && use.cache
                      ? "the group is charged with less than its guest and its files have"
                      : "the memory group's counters cannot be read";
  return use;
}

}  // namespace kcg
