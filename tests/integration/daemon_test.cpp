// SPDX-License-Identifier: Apache-2.0
//
// The real daemon on a bus of its own. It only observes: the machine's other sandboxes are not
// ours.
#include <csignal>

#include "integration/bus_stand.hpp"
#include "integration/documents.hpp"

namespace kcg::integration {
namespace {

constexpr const char* kId = "integration-test-1";

class RealDaemon : public BusStand {
 protected:
  void SetUp() override { launch("--observe"); }

  /// Its log is on stderr; the last line of a start says how many sandboxes there are.
  void launch(const std::string& options) {
    const auto command = std::string("exec ") + KCG_DAEMON + " " + options + " --bus " +
                         bus_.address() + " --run-root " + bus_.directory() + " 2>&1";
    daemon_ = std::make_unique<Server>(std::vector<std::string>{"sh", "-c", command});
    ASSERT_TRUE(daemon_->expect(": cgroup "));
  }
};

TEST_F(RealDaemon, OwnsItsNameWhenItIsReady) {
  EXPECT_EQ(busctl({"get-property", kService, kRoot, kManager, "Mode"}).out, "s \"observe\"\n");
  const auto listed = cgctl({"list"});
  EXPECT_EQ(listed.status, 0);
  EXPECT_EQ(listed.err, "");
}

TEST_F(RealDaemon, ARegistrationBecomesASandboxAndGoesAgain) {
  ASSERT_EQ(cgctl({"register", kId, "--cgroups-path", "/kcg-integration/" + std::string(kId),
                   "--pod-name", "p", "--memory-overhead", "100M"})
                .status,
            0);
  const auto shown = cgctl({"show", kId, "--json"});
  ASSERT_EQ(shown.status, 0) << shown.err;
  EXPECT_NE(shown.out.find("\"pod_cgroup\": \"/kcg-integration\""), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("\"memory_bytes\": 104857600"), std::string::npos) << shown.out;
  for (const auto* verb : {"tree", "threads", "plan", "explain"})
    EXPECT_EQ(cgctl({verb, "integration-t"}).status, 0) << verb;
  EXPECT_EQ(cgctl({"unregister", kId}).status, 0);
}

TEST_F(RealDaemon, EveryDocumentFitsItsSchema) {
  const auto registered =
      cgctl({"register", kId, "--cgroups-path", "/kcg-integration/x", "--json", "--container",
             "c1:memory=512M:cpu-quota=50000:cpu-period=100000"});
  EXPECT_EQ(misfit("change", registered.out), "");
  for (const auto& options : {std::vector<std::string>{"--json"},
                              {"--json", "--no-daemon", "--run-root", bus_.directory()}}) {
    for (const auto* verb : {"list", "tree", "plan", "explain"}) {
      std::vector<std::string> arguments = {verb};
      arguments.insert(arguments.end(), options.begin(), options.end());
      const auto said = cgctl(arguments);
      EXPECT_EQ(said.status, 0) << verb << said.err;
      EXPECT_EQ(misfit(verb, said.out), "") << verb;
    }
  }
  for (const auto* verb : {"show", "tree", "threads", "plan", "explain"}) {
    const auto said = cgctl({verb, kId, "--json"});
    EXPECT_EQ(misfit(verb, said.out), "") << said.err;
  }
  EXPECT_EQ(misfit("error", cgctl({"show", "zzzzzzzz", "--json"}).err), "");
}

TEST_F(RealDaemon, WhoOnlyObservesRefusesToReconcile) {
  const auto refused = cgctl({"reconcile", "--json"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_TRUE(refused.err.starts_with("{\"version\":1,\"error\":{\"name\":\"ObserveOnly\""))
      << refused.err;
}

TEST_F(RealDaemon, UnknownSandboxesHaveTheirErrors) {
  EXPECT_EQ(cgctl({"show", "zzzzzzzz"}).status, 3);
  EXPECT_EQ(cgctl({"plan", "zzzzzzzz"}).status, 3);
  EXPECT_EQ(cgctl({"show", "zzz"}).status, 3);
}

TEST_F(RealDaemon, ALostBusIsFoundAgain) {
  bus_.kill();
  ASSERT_TRUE(daemon_->expect("lost the bus"));
  bus_.start();
  ASSERT_TRUE(daemon_->expect("connected to the bus"));
  const auto listed = cgctl({"list"});
  EXPECT_EQ(listed.status, 0);
  EXPECT_EQ(listed.err, "") << "the daemon was not asked";
}

TEST_F(RealDaemon, StopsWhenItIsToldTo) {
  kill(daemon_->pid(), SIGTERM);
  EXPECT_EQ(daemon_->wait(), 0);
}

TEST_F(RealDaemon, ASecondOneDoesNotStart) {
  const auto second = run({KCG_DAEMON, "--observe", "--bus", bus_.address(), "--run-root",
                           bus_.directory() + "/other"});
  EXPECT_NE(second.status, 0);
  EXPECT_NE(second.err.find(kService), std::string::npos) << second.err;
}

}  // namespace
}  // namespace kcg::integration
