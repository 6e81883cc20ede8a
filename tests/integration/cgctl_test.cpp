// SPDX-License-Identifier: Apache-2.0
//
// cgctl against a daemon, and without one.
#include "integration/bus_stand.hpp"

namespace kcg::integration {
namespace {

class Cgctl : public BusStand {
 protected:
  /// With options under which no bundle and no state is found.
  [[nodiscard]] std::vector<std::string> bare_node(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--run-root", bus_.directory()});
    return arguments;
  }
};

TEST_F(Cgctl, OverTheBusTheDocumentsAreTheSame) {
  const struct {
    std::vector<std::string> arguments;
    const char* document;
  } rows[] = {{{"list", "--all", "--json"}, "list.json"},
              {{"show", "012345", "--json"}, "show.json"},
              {{"show", samples::kSecondId, "--json"}, "show-legacy.json"},
              {{"tree", "--json"}, "tree.json"},
              {{"tree", samples::kFirstId, "--json"}, "tree-one.json"},
              {{"threads", "012345", "--json"}, "threads.json"},
              {{"plan", "012345", "--json"}, "plan-one.json"},
              {{"explain", "012345", "--json"}, "explain-one.json"},
              {{"threads", "012345"}, "threads.pipe"}};
  for (const auto& row : rows) {
    const auto said = cgctl(row.arguments);
    EXPECT_EQ(said.status, 0) << row.document << said.err;
    EXPECT_EQ(said.err, "") << row.document;

    EXPECT_EQ(said.out, printed(row.document)) << row.document;
  }
}

TEST_F(Cgctl, ReadingNeedsNoPrivilege) {
  for (const auto* verb : {"list", "tree", "plan", "explain"})
    EXPECT_EQ(cgctl({verb}, kNobody).status, 0) << verb;
  EXPECT_EQ(cgctl({"show", "012345"}, kNobody).status, 0);
}

TEST_F(Cgctl, ExitStatus) {
  const struct {
    const char* name;
    std::vector<std::string> arguments;
    int status;
    const char* error;
  } rows[] = {
      {"good", {"list"}, 0, ""},
      {"usage", {"frobnicate"}, 2, ""},
      {"no such sandbox", {"show", "zzzz"}, 3, "NoSuchSandbox"},
      {"too short", {"tree", "012"}, 3, "NoSuchSandbox"},
      {"ambiguous", {"threads", "0123"}, 2, "AmbiguousId"},
      {"failing", {"list", "--failing"}, 4, ""},
      {"steps", {"plan", "--detailed-exitcode"}, 4, ""},
      {"refused argument", {"register", "../x"}, 2, "InvalidArgument"},
      {"refused", {"register", "full"}, 1, "LimitReached"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(cgctl(row.arguments).status, row.status) << row.name;
    auto json = row.arguments;
    json.emplace_back("--json");
    const auto said = cgctl(json);
    EXPECT_EQ(said.status, row.status) << row.name;
    if (*row.error == 0) continue;
    const auto part = std::string("{\"version\":1,\"error\":{\"name\":\"") + row.error + "\"";
    EXPECT_TRUE(said.err.starts_with(part)) << row.name << said.err;
    EXPECT_EQ(said.out, "") << row.name;
  }
}

TEST_F(Cgctl, WithoutPrivilegeChangesAreRefused) {
  const auto refused = cgctl({"register", "abcd", "--json"}, kNobody);
  EXPECT_EQ(refused.status, 1);
  EXPECT_TRUE(refused.err.starts_with("{\"version\":1,\"error\":{\"name\":\"NotPermitted\""))
      << refused.err;
}

TEST_F(Cgctl, WithoutADaemonTheKernelIsReadAndThatIsSaid) {
  daemon_.reset();
  const auto said = cgctl(bare_node({"list"}));
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_TRUE(said.out.starts_with("ID ")) << said.out;
  EXPECT_NE(said.err.find("nobody owns io.katacontainers.CgroupManager1"), std::string::npos);
  EXPECT_NE(said.err.find("reading the kernel directly"), std::string::npos);
  const auto json = cgctl(bare_node({"list", "--json"}));
  // Other tests of this machine may have sandboxes of their own.
  EXPECT_TRUE(json.out.starts_with("{\n  \"version\": 1,\n  \"sandboxes\": [")) << json.out;
  EXPECT_TRUE(json.err.starts_with("{\"version\":1,\"note\":")) << json.err;
}

TEST_F(Cgctl, NoDaemonAsksNobodyAndSaysNothing) {
  const auto said = cgctl(bare_node({"list", "--no-daemon"}));
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_EQ(said.err, "");
  EXPECT_EQ(said.out.find("nginx"), std::string::npos);
}

TEST_F(Cgctl, ChangesNeedTheDaemon) {
  EXPECT_EQ(cgctl({"reconcile", "--no-daemon"}).status, 5);
  daemon_.reset();
  for (const std::vector<std::string>& verb : std::vector<std::vector<std::string>>{
           {"reconcile"}, {"register", "abcd"}, {"unregister", "abcd"}}) {
    const auto refused = cgctl(verb);
    EXPECT_EQ(refused.status, 5) << verb[0];
    EXPECT_NE(refused.err.find("nobody owns"), std::string::npos) << refused.err;
  }
  bus_.kill();
  EXPECT_EQ(cgctl({"reconcile"}).status, 5);
}

TEST_F(Cgctl, AnErrorAfterTheNoteIsOneDocument) {
  daemon_.reset();
  const auto said = cgctl(bare_node({"show", "zzzz", "--json"}));
  EXPECT_EQ(said.status, 3);
  EXPECT_TRUE(said.err.starts_with("{\"version\":1,\"error\":{\"name\":\"NoSuchSandbox\""));
  EXPECT_NE(said.err.find("\"note\":"), std::string::npos);
  EXPECT_EQ(said.err.find('\n'), said.err.size() - 1);
}

TEST_F(Cgctl, ColoursOnlyWhenAskedFor) {
  EXPECT_EQ(cgctl({"list"}).out.find('\x1b'), std::string::npos);
  EXPECT_NE(cgctl({"list", "--color", "always"}).out.find('\x1b'), std::string::npos);
  EXPECT_EQ(cgctl({"list", "--color", "always", "--json"}).out.find('\x1b'), std::string::npos);
}

TEST_F(Cgctl, AFullDiskIsAFailure) {
  const auto said =
      run({"sh", "-c", std::string(KCG_CGCTL) + " --bus " + bus_.address() + " list >/dev/full"});
  EXPECT_EQ(said.status, 1);
}

}  // namespace
}  // namespace kcg::integration
