// SPDX-License-Identifier: Apache-2.0
//
// kata-cgroup-exporter on a private bus: whoever may run it sees what cgctl prints, and a daemon
// that goes and comes back.
#include <csignal>

#include "integration/bus_stand.hpp"

namespace kcg::integration {
namespace {

class Exporter : public BusStand {
 protected:
  void SetUp() override {
    serve();
    exporter_ = std::make_unique<Server>(
        std::vector<std::string>{KCG_EXPORTER, "--listen", "127.0.0.1:0", "--bus", bus_.address()},
        kNobody);
    const auto said = exporter_->expect("serves on port ");
    ASSERT_TRUE(said);
    port_ = said->substr(said->rfind(' ') + 1);
  }
  [[nodiscard]] std::string scrape() const {
    const auto got = run({"python3", "-c",
                          "import sys, urllib.request\n"
                          "print(urllib.request.urlopen(sys.argv[1], timeout=30).read().decode())",
                          "http://127.0.0.1:" + port_ + "/metrics"});
    EXPECT_EQ(got.status, 0) << got.err;
    return got.out;
  }
  /// Answers are a second old at most.
  [[nodiscard]] bool becomes(const std::string& line) const {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < until)
      if (scrape().find(line) != std::string::npos) return true;
    return false;
  }

  std::unique_ptr<Server> exporter_;
  std::string port_;
};

TEST_F(Exporter, TellsWhatCgctlTells) {
  const auto served = scrape();
  const auto printed = cgctl({"metrics"}, kNobody);
  EXPECT_EQ(printed.status, 0) << printed.err;
  EXPECT_GT(printed.out.size(), 2000U);
  // What the library says of its own serving comes before it.
  EXPECT_NE(served.find(printed.out), std::string::npos) << served << "\n---- cgctl\n"
                                                         << printed.out;
  for (const auto* name : {"kata_cgroupd_up 1", "kata_cgroupd_conditions_raised_total",
                           "kata_cgroupd_placement_seconds_bucket", "kata_sandbox_info",
                           "kata_sandbox_memory_overhead_used_bytes"})
    EXPECT_NE(served.find(name), std::string::npos) << name;
}

TEST_F(Exporter, OutlivesADaemonAndABus) {
  ASSERT_TRUE(becomes("kata_cgroupd_up 1\n"));
  daemon_.reset();
  EXPECT_TRUE(becomes("kata_cgroupd_up 0\n"));
  const auto dead = cgctl({"metrics"});
  EXPECT_EQ(dead.status, 5);
  EXPECT_NE(dead.out.find("kata_cgroupd_up 0\n"), std::string::npos) << dead.out;
  EXPECT_NE(dead.err.find("is kata-cgroupd running?"), std::string::npos) << dead.err;
  serve();
  EXPECT_TRUE(becomes("kata_cgroupd_up 1\n"));
  bus_.kill();
  EXPECT_TRUE(becomes("kata_cgroupd_up 0\n"));
  EXPECT_TRUE(exporter_->running());
}

TEST_F(Exporter, EndsWhenItIsAsked) {
  ASSERT_EQ(::kill(exporter_->pid(), SIGTERM), 0);
  EXPECT_EQ(exporter_->wait(), 0);
}

TEST_F(Exporter, SaysWhatItCannotDo) {
  const auto taken = run({KCG_EXPORTER, "--listen", "127.0.0.1:" + port_});
  EXPECT_EQ(taken.status, 1);
  EXPECT_NE(taken.err.find("'127.0.0.1:" + port_ + "' cannot be served"), std::string::npos)
      << taken.err;
  EXPECT_EQ(run({KCG_EXPORTER, "--nonsense"}).status, 2);
  EXPECT_EQ(cgctl({"metrics", "--json"}).status, 2);
  EXPECT_EQ(cgctl({"metrics", "--no-daemon"}).status, 5);
  EXPECT_NE(run({KCG_EXPORTER, "--help"}).out.find("--listen"), std::string::npos);
}

}  // namespace
}  // namespace kcg::integration
