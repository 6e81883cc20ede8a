// SPDX-License-Identifier: Apache-2.0
//
// What sandboxes have used beside their guests, counted by runtime handler and by size of guest,
// and what follows from it for who declares an overhead (L3, pure). Of bounded size, however many
// sandboxes it has seen. Nothing is placed or limited by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "measure/histogram.hpp"
#include "model/sandbox_history.hpp"

namespace kcg {

/// Value: a straight line through what was seen, as sums: guests' RAM in GiB, overhead in MiB.
struct GrowthSums {
  std::uint64_t count = 0;
  double ram = 0, overhead = 0, ram_squared = 0, product = 0;
  bool operator==(const GrowthSums&) const = default;
};

/// Value: sandboxes of one handler whose guests have about the same RAM.
struct OverheadClass {
  Histogram peaks;  ///< KiB, of each sandbox the most of its VM's life
  std::uint64_t largest = 0;
  std::uint64_t declared_least = 0, declared_most = 0;
  bool operator==(const OverheadClass&) const = default;
};

/// Value: sandboxes of one handler.
struct HandlerSurvey {
  std::map<std::uint64_t, OverheadClass> by_guest;  ///< see guest_class()
  GrowthSums growth;
  /// Since when, and until when, one of them ran, seconds since 1970.
  std::int64_t first = 0, last = 0;
  bool operator==(const HandlerSurvey&) const = default;
};

/// The least power of two of bytes that holds this much RAM, from 128 MiB on; 0: not known.
[[nodiscard]] std::uint64_t guest_class(std::uint64_t ram);

/// Value: see the head of the file.
class Survey final {
 public:
  static constexpr std::size_t kMostHandlers = 32;
  /// The handler of all others, when there are more.
  static constexpr const char* kOtherHandlers = "(others)";

  /// Nothing is counted of one that was never measured, or of whose memory a part is charged
  /// elsewhere. `now`: when it ended, or was asked.
  void add(const SandboxHistory& history, std::int64_t now);
  /// What was kept: handlers beyond kMostHandlers are left out.
  void restore(const std::string& handler, HandlerSurvey known);

  [[nodiscard]] const std::map<std::string, HandlerSurvey>& handlers() const { return handlers_; }
  bool operator==(const Survey&) const = default;

 private:
  std::map<std::string, HandlerSurvey> handlers_;
};

/// With those that have not ended.
[[nodiscard]] Survey with_living(Survey ended, const std::map<std::string, SandboxHistory>& all,
                                 std::int64_t now);

/// Value: what was seen of some sandboxes, in bytes.
struct OverheadSpread {
  std::uint64_t sandboxes = 0;
  std::uint64_t half = 0, ninety_five = 0, ninety_nine = 0, largest = 0;
  std::uint64_t declared_least = 0, declared_most = 0;
  bool operator==(const OverheadSpread&) const = default;
};

/// Value: what is told of one handler.
struct OverheadAdvice {
  std::string handler;
  OverheadSpread all;
  std::map<std::uint64_t, OverheadSpread> by_guest = {};  ///< see guest_class()
  std::optional<std::int64_t>
      growth;  ///< bytes for each GiB of RAM; nullopt: all guests have the same
  std::int64_t first = 0, last = 0;
  std::optional<std::uint64_t> declare;  ///< bytes; nullopt: see too_early
  std::string too_early = {};            ///< why there is no advice yet, for people
  bool operator==(const OverheadAdvice&) const = default;
};

/// Of one handler, or of each ("") in their order. The value to declare holds 99 of 100 sandboxes
/// with a tenth to spare, in steps of 10 MiB; from 20 sandboxes and one day on.
[[nodiscard]] std::vector<OverheadAdvice> advice_of(const Survey& survey,
                                                    const std::string& handler);

}  // namespace kcg
