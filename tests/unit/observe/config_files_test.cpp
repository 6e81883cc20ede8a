// SPDX-License-Identifier: Apache-2.0
#include "observe/config_files.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace kcg {
namespace {

namespace fs = std::filesystem;

class ConfigFiles : public testing::Test {
 protected:
  ConfigFiles() {
    std::string pattern = testing::TempDir() + "config-files-XXXXXX";
    if (::mkdtemp(pattern.data()) != nullptr) root_ = pattern;
  }
  ~ConfigFiles() override { fs::remove_all(root_); }
  void put(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  [[nodiscard]] std::string at(const std::string& path) const { return root_ / path; }
  [[nodiscard]] Result<LoadedConfig> read(bool must_exist = false) const {
    return read_config(at("main.toml"), must_exist, {at("usr"), at("run"), at("etc")});
  }
  fs::path root_;
};

TEST_F(ConfigFiles, NothingGivesTheDefaults) {
  EXPECT_EQ(read()->config, Config{});
  const auto missing = read(true);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ENOENT);
  EXPECT_NE(missing.error().text.find(at("main.toml")), std::string::npos);
}

TEST_F(ConfigFiles, DropInsMergeByBaseName) {
  put("main.toml", "mode = \"observe\"\n[overhead]\ndefault_mib = 1\nmax_mib = 1\n");
  put("usr/config.d/10-a.toml", "[overhead]\ndefault_mib = 2\ndefault_millicpu = 2\n");
  put("usr/config.d/30-c.toml", "[overhead]\nmax_mib = 30\n");
  put("run/config.d/20-b.toml", "[overhead]\nmax_mib = 20\n");
  put("etc/config.d/10-a.toml", "[overhead]\ndefault_mib = 3\n");
  put("etc/config.d/20-b.conf", "not read");
  put("etc/config.d/.30-c.toml", "not read");
  const auto loaded = read(true);
  ASSERT_TRUE(loaded) << loaded.error().text;
  EXPECT_EQ(loaded->config.mode, Mode::observe);
  EXPECT_EQ(loaded->config.overhead.default_mib, 3U);
  EXPECT_EQ(loaded->config.overhead.default_millicpu, 250U) << "hidden by the file in etc";
  EXPECT_EQ(loaded->config.overhead.max_mib, 30U) << "names decide, not directories";
  EXPECT_EQ(loaded->origin("overhead.default_mib"), at("etc/config.d/10-a.toml") + ":2");
}

TEST_F(ConfigFiles, ALinkToNothingSwitchesOff) {
  put("usr/config.d/10-a.toml", "mode = \"observe\"\n");
  fs::create_directories(at("etc/config.d"));
  fs::create_symlink("/dev/null", at("etc/config.d/10-a.toml"));
  EXPECT_EQ(read()->config.mode, Mode::enforce);
}

TEST_F(ConfigFiles, UnreadableIsAnErrorNotADefault) {
  fs::create_directories(at("main.toml"));
  EXPECT_EQ(read().error().code, EISDIR);
  fs::remove(at("main.toml"));
  fs::create_directories(at("etc/config.d/x.toml"));
  EXPECT_EQ(read().error().code, EISDIR);
  fs::remove_all(at("etc"));
  put("etc/config.d", "a file");
  EXPECT_EQ(read().error().code, ENOTDIR);
  fs::remove_all(at("etc"));
  fs::create_directories(at("etc/config.d"));
  fs::create_symlink("gone", at("etc/config.d/x.toml"));
  EXPECT_EQ(read().error().code, ENOENT);
  fs::remove_all(at("etc"));
  put("main.toml", "#" + std::string(2'000'000, 'x'));
  EXPECT_EQ(read().error().code, EFBIG);
}

TEST_F(ConfigFiles, ProblemsOfAllFilesAtOnce) {
  put("main.toml", "x = 1\n");
  put("etc/config.d/a.toml", "y = 1\n");
  const auto loaded = read();
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().text.find(at("main.toml") + ":1: x"), std::string::npos);
  EXPECT_NE(loaded.error().text.find(at("etc/config.d/a.toml") + ":1: y"), std::string::npos);
}

}  // namespace
}  // namespace kcg
