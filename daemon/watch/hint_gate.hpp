// SPDX-License-Identifier: Apache-2.0
//
// How many hints about one thing are passed on (L6, pure). What a guest, or a stranger, makes the
// sources say must not cost more than a bounded share of a CPU.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "model/hint.hpp"

namespace kcg {

/// Value: one budget per kind of hint and subject. While there is some, a hint passes at once;
/// afterwards all that come are one, which passes when its time has come. None is lost.
class HintGate final {
 public:
  /// What a VM that starts and a busy day need, several times over.
  static constexpr int kBurst = 200;
  /// Beyond the burst. A guest can make its VMM start and name threads as it likes, and in an
  /// ordinary life all but the first are of no interest.
  static constexpr Instant kPause = std::chrono::milliseconds(50);
  static constexpr Instant kThreadPause = std::chrono::milliseconds(100);
  /// Kata's and the engine's files: nobody but root writes them.
  static constexpr Instant kFilePause = std::chrono::milliseconds(5);
  /// Subjects whose budget is not full; of more than these the oldest are taken for quiet.
  static constexpr std::size_t kMostSubjects = 65'536;

  /// True: pass it on now. False: it is kept.
  [[nodiscard]] bool admit(const Hint& hint, Instant now);
  /// Those kept hints whose time has come.
  [[nodiscard]] std::vector<Hint> due(Instant now);
  /// When the next one is due.
  [[nodiscard]] std::optional<Instant> next() const;
  [[nodiscard]] std::size_t subjects() const { return spent_.size(); }

 private:
  using Subject = std::tuple<HintKind, std::string, Pid>;
  void forget_quiet(Instant now);

  std::map<Subject, Instant> spent_;  ///< when its budget is full again
  std::set<Subject> kept_;
  std::set<std::pair<Instant, Subject>> order_;  ///< of these, by when they are due
  Instant sweep_{0};
  std::size_t sweep_at_ = 0;  ///< so many in `spent_` are looked through
};

}  // namespace kcg
