// SPDX-License-Identifier: Apache-2.0
#include "kernel/pressure.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

TEST(PressureFile, TellsAverageAndTotal) {
  const struct {
    const char *name, *text;
    Pressure value;
  } rows[] = {
      {"quiet",
       "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
       "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
       {0, 0}},
      {"busy",
       "some avg10=12.34 avg60=3.00 avg300=0.10 total=12345678\n"
       "full avg10=99.99 avg60=0.00 avg300=0.00 total=7\n",
       {1234, 12345678}},
      {"all the time", "some avg10=100.00 avg60=0.00 avg300=0.00 total=1\n", {10000, 1}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto value = parse_pressure(row.text);
    ASSERT_TRUE(value) << value.error().text;
    EXPECT_EQ(*value, row.value);
  }
}

TEST(PressureFile, RefusesWhatTheKernelDoesNotWrite) {
  for (const char* bad :
       {"", "full avg10=0.00 total=0\n", "some avg10=1 total=0\n", "some avg10=1.2 total=0\n",
        "some avg10=1.23\n", "some total=1\n", "some avg10=-1.00 total=0\n",
        "some avg10=99999999999.00 total=0\n", "some avg10=0.00 total=x\n"})
    EXPECT_FALSE(parse_pressure(bad)) << bad;
}

}  // namespace
}  // namespace kcg
