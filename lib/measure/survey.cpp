// SPDX-License-Identifier: Apache-2.0
#include "measure/survey.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/units.hpp"
#include "model/condition.hpp"
#include "model/desired.hpp"

namespace kcg {

namespace {

constexpr std::uint64_t kLeastSandboxes = 20;
constexpr std::int64_t kLeastSeconds = 24 * 60 * 60;
constexpr std::uint64_t kSmallestClass = 128 * kMib;
constexpr std::uint64_t kStep = 10 * kMib;
constexpr std::uint64_t kKib = 1024;

/// 0 is nothing said.
std::uint64_t lesser(std::uint64_t a, std::uint64_t b) {
  if (a == 0 || b == 0) return std::max(a, b);
  return std::min(a, b);
}

/// What was measured is not all that it uses.
bool in_part(const SandboxHistory& history) {
  const auto name = info(ConditionName::charged_elsewhere).name;
  return std::any_of(history.events.begin(), history.events.end(), [&](const SandboxEvent& event) {
    return event.kind == EventKind::raised && event.subject == name;
  });
}

void count_growth(GrowthSums& sums, std::uint64_t ram, std::uint64_t overhead) {
  if (ram == 0) return;
  const double gib = static_cast<double>(ram) / static_cast<double>(1024 * kMib);
  const double mib = static_cast<double>(overhead) / static_cast<double>(kMib);
  ++sums.count;
  sums.ram += gib;
  sums.overhead += mib;
  sums.ram_squared += gib * gib;
  sums.product += gib * mib;
}

/// The slope of the line of least squares.
std::optional<std::int64_t> growth_of(const GrowthSums& sums) {
  const auto count = static_cast<double>(sums.count);
  const double spread = count * sums.ram_squared - sums.ram * sums.ram;
  // What remains of equal numbers is rounding.
  if (sums.count < 2 || spread <= 1e-9 * count * sums.ram_squared) return std::nullopt;
  const double mib = (count * sums.product - sums.ram * sums.overhead) / spread;
  constexpr double kMost = 1 << 30;
  return static_cast<std::int64_t>(std::llround(std::clamp(mib, -kMost, kMost) * kMib));
}

OverheadSpread spread_of(const OverheadClass& seen) {
  const auto bytes = [&](unsigned hundredths) {
    return std::min(seen.peaks.percentile(hundredths) * kKib, seen.largest);
  };
  return {seen.peaks.count(), bytes(50),           bytes(95),         bytes(99),
          seen.largest,       seen.declared_least, seen.declared_most};
}

void add_class(OverheadClass& to, const OverheadClass& seen) {
  to.peaks.add(seen.peaks);
  to.largest = std::max(to.largest, seen.largest);
  to.declared_least = lesser(to.declared_least, seen.declared_least);
  to.declared_most = std::max(to.declared_most, seen.declared_most);
}

std::string too_early(const OverheadAdvice& advice) {
  if (advice.all.sandboxes < kLeastSandboxes)
    return fmt::format("{} of at least {} sandboxes measured", advice.all.sandboxes,
                       kLeastSandboxes);
  if (advice.last - advice.first < kLeastSeconds) return "measured for less than a day";
  return "";
}

/// Less than what no VMM gets along with would be told of as a mistake.
std::uint64_t to_declare(std::uint64_t ninety_nine) {
  const auto wanted =
      std::max(ninety_nine + ninety_nine / 10, std::uint64_t{kPlausibleOverheadMib} * kMib);
  return (wanted + kStep - 1) / kStep * kStep;
}

OverheadAdvice advice_on(const std::string& handler, const HandlerSurvey& seen) {
  OverheadAdvice advice;
  advice.handler = handler;
  OverheadClass all;
  for (const auto& [guest, one] : seen.by_guest) {
    add_class(all, one);
    advice.by_guest[guest] = spread_of(one);
  }
  advice.all = spread_of(all);
  advice.growth = growth_of(seen.growth);
  advice.first = seen.first;
  advice.last = seen.last;
  advice.too_early = too_early(advice);
  if (advice.too_early.empty()) advice.declare = to_declare(advice.all.ninety_nine);
  return advice;
}

}  // namespace

std::uint64_t guest_class(std::uint64_t ram) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 50;
  return ram == 0 ? 0 : std::bit_ceil(std::clamp(ram, kSmallestClass, kMost));
}

void Survey::add(const SandboxHistory& history, std::int64_t now) {
  if (history.overhead_peak == 0 || in_part(history)) return;
  const bool fits = handlers_.contains(history.handler) || handlers_.size() < kMostHandlers;
  auto& seen = handlers_[fits ? history.handler : kOtherHandlers];
  const auto began = history.created > 0 ? std::min(history.created, now) : now;
  seen.first = seen.first == 0 ? began : std::min(seen.first, began);
  seen.last = std::max(seen.last, now);
  OverheadClass one;
  one.peaks.add((history.overhead_peak + kKib - 1) / kKib);
  one.largest = history.overhead_peak;
  one.declared_least = one.declared_most = history.overhead_declared;
  add_class(seen.by_guest[guest_class(history.guest_ram)], one);
  count_growth(seen.growth, history.guest_ram, history.overhead_peak);
}

void Survey::restore(const std::string& handler, HandlerSurvey known) {
  if (handlers_.size() <= kMostHandlers) handlers_.insert_or_assign(handler, std::move(known));
}

Survey with_living(Survey ended, const std::map<std::string, SandboxHistory>& all,
                   std::int64_t now) {
  for (const auto& [id, history] : all)
    if (history.ended == 0) ended.add(history, now);
  return ended;
}

std::vector<OverheadAdvice> advice_of(const Survey& survey, const std::string& handler) {
  std::vector<OverheadAdvice> all;
  for (const auto& [name, seen] : survey.handlers())
    if (handler.empty() || name == handler) all.push_back(advice_on(name, seen));
  return all;
}

}  // namespace kcg
