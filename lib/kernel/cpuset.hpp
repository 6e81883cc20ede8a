// SPDX-License-Identifier: Apache-2.0
//
// Lists of CPUs and memory nodes (L2): "0-3,7". Source: cpuset(7), "List format".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kcg {

/// Value: a set of CPUs or nodes, kept canonical: ranges ascend, never touch or overlap.
class CpuSet final {
 public:
  struct Range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;  ///< inclusive
    bool operator==(const Range&) const = default;
  };
  /// Members are at most this; far above what any kernel is built for.
  static constexpr std::uint32_t kMax = 65535;

  CpuSet() = default;
  /// Trailing white space is ignored, "" is the empty set; strides ("0-7:1/2") are refused.
  [[nodiscard]] static Result<CpuSet> parse(std::string_view text);
  /// The kernel's own form: "0-3,7"; "" for the empty set.
  [[nodiscard]] std::string str() const;
  [[nodiscard]] CpuSet united(const CpuSet& other) const;
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  [[nodiscard]] const std::vector<Range>& ranges() const { return ranges_; }
  bool operator==(const CpuSet&) const = default;

 private:
  explicit CpuSet(std::vector<Range> any);
  std::vector<Range> ranges_;
};

}  // namespace kcg
