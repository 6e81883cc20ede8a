// SPDX-License-Identifier: Apache-2.0
#include "history/condition_news.hpp"

#include <gtest/gtest.h>

namespace kcg::test {
namespace {

using enum ConditionName;
using What = ConditionNews::What;

struct NewsRow {
  const char* name;
  std::vector<Condition> before, after;
  std::vector<ConditionNews> news;
};
class News : public testing::TestWithParam<NewsRow> {};

TEST_P(News, IsTold) {
  EXPECT_EQ(condition_news(GetParam().before, GetParam().after), GetParam().news);
}

const NewsRow kNewsRows[] = {
    {"nothing", {}, {}, {}},
    {"raised", {}, {{contested, "a"}}, {{What::raised, {contested, "a"}}}},
    {"cleared", {{contested, "a"}}, {}, {{What::cleared, {contested, "a"}}}},
    {"unchanged", {{contested, "a"}}, {{contested, "a"}}, {}},
    {"second_kill",
     {{oom_killed, "killed 1 process in /a: usage 5"}},
     {{oom_killed, "killed 2 processes in /a: usage 5"}},
     {{What::again, {oom_killed, "killed 2 processes in /a: usage 5"}}}},
    {"kills_are_counted",
     {{oom_killed, "killed 2 processes"}},
     {{oom_killed, "killed 3 processes"}},
     {{What::again, {oom_killed, "killed 3 processes"}}}},
    {"usage_wobbles",
     {{limit_below_usage, "/a: memory.max=1 is below the usage of 12 bytes"}},
     {{limit_below_usage, "/a: memory.max=1 is below the usage of 13456 bytes"}},
     {}},
    {"fractions_wobble",
     {{charged_elsewhere, "1.5 of 20 MiB"}},
     {{charged_elsewhere, "17 of 2.25 MiB"}},
     {}},
    {"a_sentence_ends_in_a_number",
     {{charged_elsewhere, "it has 1. Then 2"}},
     {{charged_elsewhere, "it has 12. Then 2"}},
     {}},
    {"another_file",
     {{write_failed, "limit /a: memory.max=1: Device or resource busy"}},
     {{write_failed, "limit /a: cpu.max=1: Device or resource busy"}},
     {{What::again, {write_failed, "limit /a: cpu.max=1: Device or resource busy"}}}},
    {"another_value_of_the_same_file",
     {{write_failed, "limit /a: memory.max=1: Device or resource busy"}},
     {{write_failed, "limit /a: memory.max=2: Device or resource busy"}},
     {}},
    {"one_foreign_process_more",
     {{foreign_process, "process 12"}},
     {{foreign_process, "process 12"}, {foreign_process, "process 13"}},
     {{What::again, {foreign_process, "process 13"}}}},
    {"one_foreign_process_less",
     {{foreign_process, "process 12"}, {foreign_process, "process 13"}},
     {{foreign_process, "process 13"}},
     {}},
    {"another_stranger",
     {{stranger_moved, "pid 5 was reused"}},
     {{stranger_moved, "pid 6 was reused"}},
     {{What::again, {stranger_moved, "pid 6 was reused"}}}},
    {"one_for_another",
     {{contested, "a"}},
     {{scope_failed, "b"}},
     {{What::cleared, {contested, "a"}}, {What::raised, {scope_failed, "b"}}}},
    {"two_at_once",
     {},
     {{foreign_process, "process 12"}, {foreign_process, "process 13"}},
     {{What::raised, {foreign_process, "process 12"}},
      {What::raised, {foreign_process, "process 13"}}}},
};
INSTANTIATE_TEST_SUITE_P(Conditions, News, testing::ValuesIn(kNewsRows),
                         [](const auto& row) { return row.param.name; });

TEST(News, OnlyKillsAreToldWithoutALimit) {
  for (const auto& row : all_conditions())
    EXPECT_EQ(told_each_time(row.condition), row.condition == oom_killed) << row.name;
}

}  // namespace
}  // namespace kcg::test
