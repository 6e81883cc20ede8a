// SPDX-License-Identifier: Apache-2.0
#include "kernel/cpuset.hpp"
#include "require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kcg;
  const auto text = text_of(data, size);
  const auto half = text.find('|');
  const auto a = CpuSet::parse(text.substr(0, half));
  const auto b = CpuSet::parse(half == std::string_view::npos ? "" : text.substr(half + 1));
  if (!a) require_good_text(a.error());
  if (!a || !b) return 0;
  require(CpuSet::parse(a->str()) == *a, "the canonical form round-trips");
  for (std::size_t i = 0; i < a->ranges().size(); ++i) {
    const auto& range = a->ranges().at(i);
    require(range.first <= range.last && range.last <= CpuSet::kMax, "a range is a range");
    if (i > 0) require(a->ranges().at(i - 1).last + 1 < range.first, "ranges do not touch");
  }
  const auto both = a->united(*b);
  require(both == b->united(*a), "a union has no order");
  require(both.united(*a) == both, "a union holds its parts");
  return 0;
}
