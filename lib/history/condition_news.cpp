// SPDX-License-Identifier: Apache-2.0
#include "history/condition_news.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace kcg {

namespace {

using What = ConditionNews::What;

/// Each of them tells of one event, and its numbers say of which.
bool numbers_matter(ConditionName condition) {
  switch (condition) {
    case ConditionName::oom_killed:
    case ConditionName::stranger_moved:
    case ConditionName::foreign_process:
    case ConditionName::foreign_container:
      return true;
    default:
      return false;
  }
}

bool digit(char c) { return c >= '0' && c <= '9'; }

/// "used 12 of 3.5" -> "used # of #"
std::string without_numbers(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool within =
        i > 0 && digit(text[i - 1]) &&
        (digit(text[i]) || (text[i] == '.' && i + 1 < text.size() && digit(text[i + 1])));
    const bool after_point = i > 1 && text[i - 1] == '.' && digit(text[i - 2]) && digit(text[i]);
    if (within || after_point) continue;
    out += digit(text[i]) ? '#' : text[i];
  }
  return out;
}

bool same_name(const Condition& a, const Condition& b) { return a.condition == b.condition; }

bool same_event(const Condition& a, const Condition& b) {
  if (!same_name(a, b)) return false;
  if (a.text == b.text) return true;
  return !numbers_matter(a.condition) && without_numbers(a.text) == without_numbers(b.text);
}

template <class Same>
bool has(const std::vector<Condition>& all, const Condition& one, Same same) {
  return std::any_of(all.begin(), all.end(), [&](const Condition& c) { return same(c, one); });
}

}  // namespace

std::vector<ConditionNews> condition_news(const std::vector<Condition>& before,
                                          const std::vector<Condition>& after) {
  std::vector<ConditionNews> news;
  for (const auto& one : before)
    if (!has(after, one, same_name)) news.push_back({What::cleared, one});
  for (const auto& one : after) {
    if (!has(before, one, same_name))
      news.push_back({What::raised, one});
    else if (!has(before, one, same_event))
      news.push_back({What::again, one});
  }
  return news;
}

bool told_each_time(ConditionName condition) { return condition == ConditionName::oom_killed; }

}  // namespace kcg
