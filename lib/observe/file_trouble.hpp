// SPDX-License-Identifier: Apache-2.0
//
// A file that does not parse (L6): writers truncate and rewrite in place, so that a file is empty
// or half for some milliseconds. It is read again soon, and told of only when it stays so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/rare.hpp"

namespace kcg {

/// From here on it is no writer that has not finished yet.
inline constexpr Instant kTroubleTold = std::chrono::seconds(5);

/// Value: what is wrong with one file, since when, and when it is read again.
class FileTrouble final {
 public:
  /// It was read in vain. `unchanged` is for how long the file has not been written to, as far as
  /// that is known: nobody is writing what is older than that.
  void seen(std::string text, Instant now, Instant unchanged = Instant(0));
  void over() { *this = FileTrouble(); }

  [[nodiscard]] bool any() const { return !seen_.ordinary(); }
  [[nodiscard]] bool told(Instant now) const { return any() && now >= seen_->since + kTroubleTold; }
  [[nodiscard]] const std::string& text() const { return seen_->text; }
  /// When to read it again: soon and then more and more rarely, the last time when it is to be
  /// told; after that, events and full looks have to do. nullopt: not by itself.
  [[nodiscard]] std::optional<Instant> read_again() const { return seen_->next; }

 private:
  struct Seen {
    std::string text;
    Instant since{0};
    std::optional<Instant> next;
    unsigned tries = 0;
    bool operator==(const Seen&) const = default;
  };
  Rare<Seen> seen_;
};

}  // namespace kcg
