// SPDX-License-Identifier: Apache-2.0
//
// cgctl against a daemon, and without one.
#include <csignal>

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

/// `list` tells of the daemon, too.
std::string with_daemon(std::string document) {
  const std::string head = "{\n  \"version\": 1,\n";
  return document.insert(head.size(),
                         "  \"daemon\": {\n    \"running\": true,\n    \"mode\": \"enforce\",\n"
                         "    \"version\": \"9.9\"\n  },\n");
}

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
              {{"events", "--json"}, "events.json"},
              {{"events", "cart-0", "--json"}, "events-one.json"},
              {{"show", "shop/cart-0", "--json"}, "events-one.json"},
              {{"threads", "default/nginx"}, "threads.pipe"}};
  const auto expected = [](const std::string& document) {
    return document == "list.json" ? with_daemon(printed(document)) : printed(document);
  };
  for (const auto& row : rows) {
    const auto said = cgctl(row.arguments);
    EXPECT_EQ(said.status, 0) << row.document << said.err;
    EXPECT_EQ(said.err, "") << row.document;

    EXPECT_EQ(said.out, expected(row.document)) << row.document;
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
      {"usage", {"frobnicate"}, 2, "InvalidArgument"},
      {"usage of a verb", {"show"}, 2, "InvalidArgument"},
      {"no such sandbox", {"show", "zzzz"}, 3, "NoSuchSandbox"},
      {"too short", {"tree", "012"}, 3, "NoSuchSandbox"},
      {"ambiguous", {"threads", "0123"}, 2, "AmbiguousId"},
      {"failing", {"list", "--failing"}, 4, ""},
      {"something degraded", {"status"}, 4, ""},
      {"the same without a verb", {}, 4, ""},
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
  EXPECT_TRUE(said.out.starts_with("POD ")) << said.out;
  EXPECT_NE(said.err.find("nobody owns io.katacontainers.CgroupManager1"), std::string::npos);
  EXPECT_NE(said.err.find("reading the kernel directly"), std::string::npos);
  const auto json = cgctl(bare_node({"list", "--json"}));
  // Other tests of this machine may have sandboxes of their own.
  EXPECT_TRUE(json.out.starts_with("{\n  \"version\": 1,\n  \"daemon\": {\n    \"running\": false"))
      << json.out;
  EXPECT_TRUE(json.err.starts_with("{\"version\":1,\"note\":")) << json.err;
}

/// A check of health must not be green because nobody looks.
TEST_F(Cgctl, FailingOverADeadDaemonFails) {
  daemon_.reset();
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{}, {"--json"}}) {
    auto words = std::vector<std::string>{"list", "--failing"};
    words.insert(words.end(), more.begin(), more.end());
    const auto said = cgctl(bare_node(words));
    EXPECT_EQ(said.status, 5) << said.err;
    EXPECT_NE(said.err.find("nobody owns"), std::string::npos) << said.err;
    EXPECT_NE(said.out, "") << "what the kernel says is shown all the same";
  }
  const auto asked_for = cgctl(bare_node({"list", "--failing", "--no-daemon"}));
  EXPECT_TRUE(asked_for.status == 0 || asked_for.status == 4) << asked_for.status;
  EXPECT_EQ(asked_for.err, "");
}

/// It owns its name and answers nothing.
TEST_F(Cgctl, ADaemonThatHangsIsNotWaitedForLong) {
  ASSERT_EQ(kill(daemon_->pid(), SIGSTOP), 0);
  const struct {
    std::vector<std::string> arguments;
    int status;
  } rows[] = {{{"list"}, 0}, {{"list", "--failing"}, 5}, {{"status"}, 5}, {{"reload"}, 5}};
  for (const auto& row : rows) {
    const auto began = std::chrono::steady_clock::now();
    const auto said = cgctl(bare_node(row.arguments));
    EXPECT_EQ(said.status, row.status) << row.arguments[0] << said.err;
    EXPECT_NE((said.out + said.err).find("does not answer within 3 s"), std::string::npos)
        << said.out << said.err;
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(15));
  }
  kill(daemon_->pid(), SIGCONT);
}

TEST_F(Cgctl, ReloadSaysWhatChanged) {
  const auto said = cgctl({"reload"});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_EQ(said.out, "The configuration was read again: mode enforce -> observe.\n");
  EXPECT_TRUE(cgctl({"show", "nginx"}).out.starts_with("observe: nothing is written\n"));
  EXPECT_NE(cgctl({"list", "--json"}).out.find("\"mode\": \"observe\""), std::string::npos);
  const auto refused = cgctl({"reload"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.err.find("config.toml:3"), std::string::npos) << refused.err;
}

TEST_F(Cgctl, WatchPrintsWhatHappensAndEndsWithItsReader) {
  Server watch({KCG_CGCTL, "--bus", bus_.address(), "watch", "--json"});
  ASSERT_TRUE(watch.expect("\"event\":\"daemon\",\"running\":true"));
  command("change");
  EXPECT_TRUE(watch.expect("\"new_state\":\"placed\""));
  command("happen");
  EXPECT_TRUE(watch.expect("\"event\":\"happened\""));
  EXPECT_EQ(watch.count("\"kind\":\"repaired\""), 1U);
  command("add watched0000");
  EXPECT_TRUE(watch.expect("\"event\":\"added\",\"sandbox\":\"watched0000\""));
  daemon_.reset();
  EXPECT_TRUE(watch.expect("\"event\":\"daemon\",\"running\":false"));
}

/// Needs nothing, and says what it could not see.
TEST_F(Cgctl, DoctorLooksAtEverythingAndPacksAReport) {
  const auto file = bus_.directory() + "/report.json";
  command("trouble OOM kills: no memory events");
  const auto said = cgctl(bare_node({"doctor", "--report", file}));
  EXPECT_EQ(said.status, 4) << said.err;
  EXPECT_NE(said.out.find("OOM\\x20kills"), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("1\\x20of\\x202\\x20needs\\x20a\\x20look"), std::string::npos)
      << said.out;
  const auto report = run({"cat", file}).out;
  for (const auto* part : {"\"doctor\": {", "\"journal\": ", "\"pod\": ", samples::kFirstId})
    EXPECT_NE(report.find(part), std::string::npos) << part;
  const auto again = cgctl(bare_node({"doctor", "--report", file}));
  EXPECT_EQ(again.status, 1);
  EXPECT_NE(again.err.find("not there yet"), std::string::npos) << again.err;
  EXPECT_EQ(run({"cat", file}).out, report);

  const auto json = cgctl(bare_node({"doctor", "--json"}), kNobody);
  EXPECT_EQ(json.status, 4) << json.err;
  EXPECT_TRUE(json.out.starts_with("{\n  \"version\": 1,\n  \"daemon\": {")) << json.out;
  daemon_.reset();
  const auto alone = cgctl(bare_node({"doctor"}), kNobody);
  EXPECT_EQ(alone.status, 4);
  EXPECT_NE(alone.out.find("unchecked"), std::string::npos) << alone.out;
  EXPECT_NE(alone.out.find("nobody\\x20owns"), std::string::npos) << alone.out;
}

TEST_F(Cgctl, RegistrationsAreListedWithTimeAndUser) {
  EXPECT_EQ(cgctl({"registrations"}).out, "POD  SINCE  BY  ID  SHIM  VMM  CGROUPS_PATH\n");
  ASSERT_EQ(cgctl({"register", "abcd", "--pod-namespace", "shop", "--pod-name", "cart"}).status, 0);
  const auto said = cgctl({"registrations"}, kNobody);
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_NE(said.out.find("shop/cart  2023-11-14T22:13:20Z  0   abcd"), std::string::npos)
      << said.out;
  EXPECT_EQ(cgctl({"registrations", "--no-daemon"}).status, 5);
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
