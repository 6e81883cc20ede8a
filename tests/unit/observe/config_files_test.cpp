// SPDX-License-Identifier: Apache-2.0
#include "observe/config_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "observe/kata_config.hpp"

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
  [[nodiscard]] Result<Config> read(bool must_exist = false) const {
    return read_config(at("main.toml"), must_exist, {at("usr"), at("run"), at("etc")});
  }
  fs::path root_;
};

TEST_F(ConfigFiles, NothingGivesTheDefaults) {
  EXPECT_EQ(*read(), Config{});
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
  EXPECT_EQ(loaded->mode, Mode::observe);
  EXPECT_EQ(loaded->overhead.default_mib, 3U);
  EXPECT_EQ(loaded->overhead.default_millicpu, 250U) << "hidden by the file in etc";
  EXPECT_EQ(loaded->overhead.max_mib, 30U) << "names decide, not directories";
  EXPECT_EQ(loaded->origin("overhead.default_mib"), at("etc/config.d/10-a.toml") + ":2");
}

TEST_F(ConfigFiles, AnEmptyFileSwitchesOff) {
  put("usr/config.d/10-a.toml", "mode = \"observe\"\n");
  put("etc/config.d/10-a.toml", "");
  EXPECT_EQ(read()->mode, Mode::enforce);
}

/// None of them may block, or count as an empty file: observe would become enforce.
TEST_F(ConfigFiles, OnlyRegularFilesAreRead) {
  const auto refused = [&](const std::string& path, const std::string& what) {
    const auto loaded = read();
    ASSERT_FALSE(loaded) << what;
    EXPECT_NE(loaded.error().text.find(at(path)), std::string::npos) << loaded.error().text;
    EXPECT_NE(loaded.error().text.find(what), std::string::npos) << loaded.error().text;
    fs::remove_all(at(path));
  };
  for (const auto* path : {"main.toml", "etc/config.d/10-a.toml"}) {
    fs::create_directories((root_ / path).parent_path());
    ASSERT_EQ(::mkfifo(at(path).c_str(), 0600), 0);
    refused(path, "a FIFO, not a regular file");
    fs::create_symlink("/dev/null", at(path));
    refused(path, "a device, not a regular file");
    fs::create_directories(at(path));
    refused(path, "a directory, not a regular file");
    put("real", "mode = \"observe\"\n");
    fs::create_symlink(at("real"), at(path));
    EXPECT_EQ(read()->mode, Mode::observe) << "links are followed";
    fs::remove(at(path));
  }
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

TEST_F(ConfigFiles, KatasFirstFileThatExistsCounts) {
  Config::Discovery discovery;
  discovery.kata_config = {at("first"), at("second")};
  EXPECT_FALSE(read_kata_config(discovery));
  put("second", "[runtime]\nsandbox_cgroup_only = true\n[hypervisor.qemu]\ndefault_memory = 512\n");
  const auto second = read_kata_config(discovery);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->only, true);
  EXPECT_EQ(second->where, at("second") + ":2");
  EXPECT_EQ(second->default_memory.at("qemu"), (KataDefaultMemory{512, at("second") + ":4"}));
  put("first", "[hypervisor.qemu]\n");
  EXPECT_EQ(read_kata_config(discovery)->only, std::nullopt);
  fs::remove(at("first"));
  ASSERT_EQ(::mkfifo(at("first").c_str(), 0600), 0);
  EXPECT_FALSE(read_kata_config(discovery)) << "it counts, and nothing of it is known";
}

}  // namespace
}  // namespace kcg
