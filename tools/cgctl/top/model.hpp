// SPDX-License-Identifier: Apache-2.0
//
// `top`: two samples -> rates -> rows -> text. Pure.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "tools/cgctl/table.hpp"

namespace kcg::cgctl::top {

/// Value: counters of one sandbox at one moment; nullopt: the kernel does not tell.
struct Usage {
  std::string title;
  std::optional<std::uint64_t> cpu_usec;                           ///< of the whole sandbox
  std::array<std::optional<std::uint64_t>, 4> class_usec;          ///< by ThreadClass
  std::optional<std::uint64_t> throttled_usec;                     ///< of all its groups
  std::optional<std::uint64_t> memory_stall_usec, cpu_stall_usec;  ///< PSI, "some"
  std::optional<std::uint64_t> memory_used, memory_limit;          ///< bytes
  std::optional<std::uint64_t> overhead_used;                      ///< bytes, as measured last
  std::uint64_t overhead_declared = 0;                             ///< bytes
};

/// Value: all sandboxes at one moment, by id.
struct Sample {
  Instant at{0};
  std::map<std::string, Usage> sandboxes;
};

/// Value: what happened between two samples.
struct Rates {
  std::string id, title;
  std::optional<std::uint64_t> cpu_milli;  ///< thousandths of a CPU
  std::array<std::optional<std::uint64_t>, 4> class_milli;
  /// Thousandths of the time.
  std::optional<std::uint64_t> throttled_permille, memory_stall_permille, cpu_stall_permille;
  std::optional<std::uint64_t> memory_used, memory_limit;
  std::optional<std::uint64_t> overhead_used;
  std::uint64_t overhead_declared = 0;
  bool operator==(const Rates&) const = default;
};

/// Of what is in both samples; one that came in between has no rates yet. A counter that ran
/// backwards (another life of the id) has none either.
[[nodiscard]] std::vector<Rates> rates(const Sample& before, const Sample& after);

enum class Order : unsigned char { cpu, memory, throttled, pressure, name };
/// The largest first, equal ones by name; what is not known comes last.
void sort_rates(std::vector<Rates>& rows, Order order);

/// The table, and a last line of sums on a terminal.
[[nodiscard]] std::string render(const Style& style, const std::vector<Rates>& rows);
/// The JSON document. `seconds`: between the samples.
[[nodiscard]] std::string document(const std::vector<Rates>& rows, std::chrono::milliseconds over);

/// Value: what the terminal shows.
struct Screen {
  Order order = Order::cpu;
  std::string selected;   ///< id; "": the first one
  bool open = false;      ///< one sandbox instead of all
  std::size_t first = 0;  ///< line of the text that stands on top
  bool over = false;
};

enum class Key : unsigned char {
  none,
  up,
  down,
  enter,
  back,
  quit,
  cpu,
  memory,
  throttled,
  pressure,
  name
};
/// What a key does; `rows` as they are shown.
[[nodiscard]] Screen pressed(Screen screen, Key key, const std::vector<Rates>& rows);
/// Index of the selected row; 0 if it has gone.
[[nodiscard]] std::size_t selected_row(const Screen& screen, const std::vector<Rates>& rows);

/// Lines that fit `height`, the selected one first and the keys at the end. `mark`: index of the
/// line that is to stand out.
struct Picture {
  std::vector<std::string> lines;
  std::optional<std::size_t> mark;
};
[[nodiscard]] Picture picture(const Style& style, const Screen& screen,
                              const std::vector<Rates>& rows, std::size_t height);
/// The same of one sandbox's text.
[[nodiscard]] Picture picture_of_text(const Screen& screen, const std::string& text,
                                      std::size_t height);

}  // namespace kcg::cgctl::top
