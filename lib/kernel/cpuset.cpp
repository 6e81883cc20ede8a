// SPDX-License-Identifier: Apache-2.0
#include "kernel/cpuset.hpp"

#include <algorithm>
#include <optional>

#include "base/text.hpp"

namespace kcg {

namespace {

std::optional<std::uint32_t> member(std::string_view text) {
  const auto value = parse_u64(text);
  if (!value || *value > CpuSet::kMax) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

std::optional<CpuSet::Range> range(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = member(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : member(text.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return CpuSet::Range{*first, *last};
}

}  // namespace

CpuSet::CpuSet(std::vector<Range> any) {
  std::sort(any.begin(), any.end(),
            [](const Range& a, const Range& b) { return a.first < b.first; });
  for (const auto& next : any) {
    if (ranges_.empty() || next.first > ranges_.back().last + 1)
      ranges_.push_back(next);
    else
      ranges_.back().last = std::max(ranges_.back().last, next.last);
  }
}

Result<CpuSet> CpuSet::parse(std::string_view text) {
  const auto list = trim(text);
  std::vector<Range> found;
  if (list.empty()) return CpuSet();
  for (const auto part : split(list, ',')) {
    const auto one = range(part);
    if (!one)
      return fail(0, "cpu list '{}': '{}' is neither a number up to {} nor an ascending range",
                  escaped(list), escaped(part), kMax);
    found.push_back(*one);
  }
  return CpuSet(std::move(found));
}

std::string CpuSet::str() const {
  std::string text;
  for (const auto& range : ranges_) {
    if (!text.empty()) text += ',';
    text += range.first == range.last ? fmt::format("{}", range.first)
                                      : fmt::format("{}-{}", range.first, range.last);
  }
  return text;
}

CpuSet CpuSet::united(const CpuSet& other) const {
  auto all = ranges_;
  all.insert(all.end(), other.ranges_.begin(), other.ranges_.end());
  return CpuSet(std::move(all));
}

}  // namespace kcg
