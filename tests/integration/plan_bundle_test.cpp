// SPDX-License-Identifier: Apache-2.0
//
// cgctl plan --bundle: what would be done for bundles that do not run, without daemon and root.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "integration/documents.hpp"
#include "integration/process.hpp"

namespace kcg::integration {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;
constexpr const char* kSandbox = "0cb619b857a88e4c469a22c6afae6a66aa6de0f21c035216d81a5a85dc857cce";
constexpr const char* kContainer =
    "b0a8b7bd13e4c7c20dec12cc359492131807bf49e35388841b5ea722822ec6a5";

/// A directory with the bundles of a real pod.
class PlanBundle : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "kcg-bundles-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    fs::permissions(root_, fs::perms::all & ~(fs::perms::group_write | fs::perms::others_write));
    put(kSandbox, "containerd-sandbox.json");
    put(kContainer, "containerd-container.json");
  }
  void TearDown() override { fs::remove_all(root_); }

  /// The sandbox's bundle, with another cgroupsPath.
  [[nodiscard]] std::string with_path(const std::string& path) const {
    auto text = slurp(fs::path(KCG_TEST_DATA) / "bundles" / "containerd-sandbox.json");
    const std::string key = "\"cgroupsPath\": \"";
    const auto begin = text.find(key) + key.size();
    text.replace(begin, text.find('"', begin) - begin, path);
    const auto directory = root_ / fmt::format("other-{}", std::hash<std::string>{}(path));
    fs::create_directory(directory);
    std::ofstream(directory / "config.json") << text;
    return directory;
  }
  static std::string slurp(const fs::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  void put(const std::string& id, const std::string& capture) {
    fs::create_directory(root_ / id);
    fs::copy_file(fs::path(KCG_TEST_DATA) / "bundles" / capture, root_ / id / "config.json");
  }
  [[nodiscard]] Ended plan(std::vector<std::string> options) const {
    std::vector<std::string> argv = {KCG_CGCTL, "plan", "--bundle", root_ / kSandbox,
                                     root_ / kContainer};
    argv.insert(argv.end(), options.begin(), options.end());
    return run(argv, kNobody);
  }

  fs::path root_;
};

TEST_F(PlanBundle, NeedsNeitherDaemonNorRoot) {
  for (const auto* hierarchy : {"v1", "v2"}) {
    const auto said = plan({"--assume-hierarchy", hierarchy, "--json"});
    ASSERT_EQ(said.status, 0) << hierarchy << said.err;
    EXPECT_EQ(said.err, "") << hierarchy;
    EXPECT_EQ(misfit("plan", said.out), "") << hierarchy;
    EXPECT_NE(said.out.find(std::string("\"hierarchy\": \"") + hierarchy + "\""),
              std::string::npos);
    EXPECT_NE(said.out.find(std::string("\"sandbox\": \"") + kSandbox + "\""), std::string::npos);
  }
}

TEST_F(PlanBundle, TheLimitIsBootMemoryContainersAndOverhead) {
  EXPECT_NE(plan({"--assume-hierarchy", "v2", "--json"}).out.find("\"memory.max\": \"3319791616\""),
            std::string::npos);
  EXPECT_NE(plan({"--assume-hierarchy", "v1", "--json"})
                .out.find("\"memory.limit_in_bytes\": \"3319791616\""),
            std::string::npos);
}

TEST_F(PlanBundle, TextAndStatus) {
  const auto said = plan({"--assume-hierarchy", "v2", "--detailed-exitcode"});
  EXPECT_EQ(said.status, 4) << said.err;
  EXPECT_NE(said.out.find("memory.max"), std::string::npos) << said.out;
}

TEST_F(PlanBundle, TheConfigurationCounts) {
  const auto config = root_ / "config.toml";
  (void)run({"sh", "-c", "printf '[sizing]\\nmemory = \"never\"\\n' >" + config.string()});
  const auto said = plan({"--assume-hierarchy", "v2", "--json", "--config", config});
  ASSERT_EQ(said.status, 0) << said.err;
  EXPECT_EQ(said.out.find("memory.max"), std::string::npos);
}

TEST_F(PlanBundle, ErrorsNameTheFile) {
  const struct {
    const char* name;
    std::vector<std::string> arguments;
    const char* part;
  } rows[] = {
      {"no bundle", {"plan", "--bundle", "/nonexistent/bundle"}, "/nonexistent/bundle"},
      {"no configuration",
       {"plan", "--bundle", root_ / kSandbox, "--config", "/nonexistent.toml"},
       "/nonexistent.toml"},
      {"a container first", {"plan", "--bundle", root_ / kContainer}, "is a container of sandbox"},
      {"a cgroup that cannot be", {"plan", "--bundle", with_path("a--b.slice:x:y")}, "a--b.slice"},
      {"a container of another pod",
       {"explain", "--bundle", with_path("/kubepods/other/x"), root_ / kContainer},
       "does not belong to it"},
  };
  for (const auto& row : rows) {
    std::vector<std::string> argv = {KCG_CGCTL, "--json"};
    argv.insert(argv.end(), row.arguments.begin(), row.arguments.end());
    const auto said = run(argv, kNobody);
    EXPECT_EQ(said.status, 1) << row.name << said.err;
    EXPECT_EQ(said.out, "") << row.name;
    EXPECT_NE(said.err.find(row.part), std::string::npos) << row.name << said.err;
    EXPECT_EQ(misfit("error", said.err), "") << row.name;
  }
}

}  // namespace
}  // namespace kcg::integration
