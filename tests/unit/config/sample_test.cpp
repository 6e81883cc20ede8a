// SPDX-License-Identifier: Apache-2.0
//
// The shipped systemd/config.toml: generated from the table of keys, and every line of it works.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/text.hpp"
#include "config/dump.hpp"
#include "config/keys.hpp"
#include "config/load.hpp"

namespace kcg {
namespace {

std::string shipped() {
  std::ifstream file(KCG_SAMPLE);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(file) << KCG_SAMPLE;
  return text.str();
}

/// "#key = value" loses its '#'; prose starts with "# " and stays.
std::string uncommented(const std::string& text) {
  std::string out;
  for (const auto line : lines(text)) {
    const bool key = line.size() > 1 && line[0] == '#' && line[1] != ' ';
    out.append(key ? line.substr(1) : line).append("\n");
  }
  return out;
}

TEST(Sample, IsWhatTheTableSays) {
  EXPECT_EQ(shipped(), sample_config())
      << "the table of keys changed: replace " << KCG_SAMPLE << " by the text above";
}

TEST(Sample, SaysNothingUntilItIsEdited) {
  const auto loaded = load_config({{"sample", shipped()}});
  ASSERT_TRUE(loaded) << loaded.error().text;
  EXPECT_EQ(*loaded, Config{});
  EXPECT_TRUE(loaded->origins.by_name.empty());
}

TEST(Sample, ListsEveryKeyAtItsDefault) {
  const auto loaded = load_config({{"sample", uncommented(shipped())}});
  ASSERT_TRUE(loaded) << loaded.error().text;
  EXPECT_EQ(*loaded, Config{});
  for (const auto& key : config_keys())
    EXPECT_TRUE(loaded->origins.by_name.contains(key.full_name("kata"))) << key.name;
}

TEST(Sample, IsReadable) {
  const auto text = shipped();
  for (const auto line : lines(text))
    EXPECT_TRUE(line.size() <= 100 || (line[0] == '#' && line[1] != ' ')) << line;
}

}  // namespace
}  // namespace kcg
