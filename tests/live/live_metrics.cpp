// SPDX-License-Identifier: Apache-2.0
//
// A real Prometheus scrapes the exporter of a real daemon, and each alert of docs/monitoring fires
// by a real cause. v1 alone: the cgroup2 tree beside it accounts no memory.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "integration/private_bus.hpp"
#include "support/live/fixture.hpp"
#include "support/live/kernel.hpp"
#include "support/live/programs.hpp"
#include "support/live/sysctl.hpp"
#include "support/live/wait.hpp"

namespace kcg::live {
namespace {

using std::chrono::seconds;

constexpr const char* kOverheadKey = "io.katacontainers.config.hypervisor.memory_overhead";
constexpr std::size_t kMany = 200;
constexpr std::size_t kMostSeries = 40;
constexpr std::ptrdiff_t kScrapes = 40;

class LiveMetrics : public LiveTest {
 protected:
  void SetUp() override {
    LiveTest::SetUp();
    bus_.start();
  }
  void start(const std::string& more = "") {
    start_daemon({.config = "[measure]\ninterval = \"1s\"\n" + more, .bus = bus_.address()});
    Command command;
    command.argv = {built("tools/exporter/kata-cgroup-exporter"), "--listen", "127.0.0.1:0",
                    "--bus", bus_.address()};
    command.output = file("exporter");
    exporter_.emplace(Child::start(command));
    const std::regex line("serves on port ([0-9]+)");
    std::smatch found;
    ASSERT_TRUE(wait_until([&] {
      exporter_said_ = slurp(command.output);
      return std::regex_search(exporter_said_, found, line);
    })) << exporter_said_;
    port_ = found[1];
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    return node_->run_root() + "/" + name;
  }
  /// What a shell command prints; its status is checked.
  [[nodiscard]] std::string shell(const std::string& text) const {
    Command command;
    command.argv = {"/bin/sh", "-c", text};
    command.output = file("shell");
    std::filesystem::remove(command.output);
    auto child = Child::start(command);
    EXPECT_EQ(child.wait(kPatience).value_or(-1), 0) << text << "\n" << slurp(command.output);
    return slurp(command.output);
  }
  /// Into the file "scraped"; the client's own clock, in ms, into the file "took".
  [[nodiscard]] std::string scrape() const {
    const auto url = "http://127.0.0.1:" + port_ + "/metrics";
    (void)shell(
        "python3 -c 'import sys, time, urllib.request; begin = time.monotonic(); "
        "text = urllib.request.urlopen(sys.argv[1]).read().decode(); "
        "open(sys.argv[2], \"w\").write(str(1000 * (time.monotonic() - begin))); "
        "sys.stdout.write(text)' " +
        url + " " + file("took") + " >" + file("scraped"));  // checked there
    return slurp(file("scraped"));
  }
  [[nodiscard]] static double cpu_ms(int pid) {
    return std::chrono::duration<double, std::milli>(cpu_time(pid)).count();
  }
  /// With the rules that are shipped, but for their patience.
  void start_prometheus() {
    std::ofstream(file("alerts.yml"))
        << std::regex_replace(slurp(KCG_ALERTS), std::regex("for: [0-9]+m"), "for: 0s");
    std::ofstream(file("prometheus.yml"))
        << "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
        << "rule_files: [alerts.yml]\nscrape_configs:\n  - job_name: kata-cgroupd\n"
        << "    static_configs: [{targets: [\"127.0.0.1:" << port_ << "\"]}]\n";
    Command command;
    command.argv = {"/usr/bin/prometheus", "--config.file=" + file("prometheus.yml"),
                    "--storage.tsdb.path=" + file("tsdb"), "--web.listen-address=" + address_};
    command.output = file("prometheus");
    prometheus_.emplace(Child::start(command));
    ASSERT_TRUE(wait_until([&] {
      return slurp(command.output).find("Server is ready") != std::string::npos;
    })) << slurp(command.output);
  }
  [[nodiscard]] std::string firing() const {
    return shell("promtool query instant http://" + address_ + " 'ALERTS{alertstate=\"firing\"}'");
  }
  [[nodiscard]] bool fires(const std::string& alert, bool so = true) const {
    const auto text = "alertname=\"" + alert + "\"";
    return wait_until([&] { return (firing().find(text) != std::string::npos) == so; },
                      std::chrono::minutes(2), std::chrono::milliseconds(500));
  }

  integration::PrivateBus bus_{integration::Policy::installed};
  std::optional<Child> exporter_, prometheus_;
  std::string exporter_said_, port_,
      address_ = "127.0.0.1:" + std::to_string(20'000 + getpid() % 10'000);
};

TEST_P(LiveMetrics, EachAlertFiresByItsCause) {
  ASSERT_NO_FATAL_FAILURE(start());
  ASSERT_NO_FATAL_FAILURE(start_prometheus());
  const auto greedy = node_->sandbox(
      {.pod = "podgreedy",
       .standin = {{"MEMORY_MIB", "128"},
                   {"VMM_ARGS",
                    "-object memory-backend-memfd,share=on,id=d1,size=128M -numa node,memdev=d1"}},
       .annotations = {{kOverheadKey, "4"},
                       {"io.kubernetes.cri.sandbox-memory", std::to_string(768 * kMib)}}});
  greedy->start();
  EXPECT_EQ(settle(*greedy), "");
  (void)greedy->ask("fill-memory 32");  // ignored: it throws
  EXPECT_TRUE(fires("KataSandboxOverheadExceeded")) << firing();
  EXPECT_EQ(firing().find("KataSandboxOomKilled"), std::string::npos);

  const auto killed = node_->sandbox(
      {.pod = "podkilled",
       .annotations = {{kOverheadKey, "96"},
                       {"io.kubernetes.cri.sandbox-memory", std::to_string(64 * kMib)}}});
  killed->start();
  ASSERT_EQ(settle(*killed), "");
  const auto vmm = killed->truth().vmm;
  EXPECT_THROW(killed->ask("fill-memory 1024"), std::exception);
  ASSERT_TRUE(wait_until([&] { return !alive(vmm); }));
  EXPECT_TRUE(fires("KataSandboxFailing")) << "while the pod is there\n" << firing();
  killed->end();
  EXPECT_TRUE(fires("KataSandboxOomKilled")) << "also when the pod is gone\n" << firing();
  // The daemon says what became of it, or that it has not found out.
  EXPECT_EQ(firing().find("KataCgroupdD"), std::string::npos) << firing();

  // A daemon that gets no CPU answers nobody, and places late what starts meanwhile.
  ASSERT_EQ(::kill(daemon_->pid(), SIGSTOP), 0);
  const auto late = node_->sandbox({.pod = "podlate", .light = true});
  late->start();
  EXPECT_TRUE(fires("KataCgroupdDown")) << firing();
  ASSERT_EQ(::kill(daemon_->pid(), SIGCONT), 0);
  EXPECT_EQ(settle(*late), "");
  EXPECT_TRUE(fires("KataPlacementSlow")) << firing();
  EXPECT_TRUE(fires("KataCgroupdDown", false)) << firing();

  daemon_->kill9();
  EXPECT_TRUE(fires("KataCgroupdDown")) << firing();
  {
    const Sysctl watches("/proc/sys/fs/inotify/max_user_watches", "1");
    daemon_->start();
    EXPECT_TRUE(fires("KataCgroupdDown", false)) << firing();
    EXPECT_TRUE(fires("KataCgroupdDegraded")) << firing();
    EXPECT_TRUE(fires("KataCgroupdSourceDown")) << firing();
  }
  exporter_->signal(SIGKILL);
  EXPECT_TRUE(fires("KataCgroupExporterDown")) << firing();
  prometheus_->signal(SIGTERM);
  EXPECT_TRUE(prometheus_->wait(kPatience).has_value());
}

TEST_P(LiveMetrics, AScrapeOfTwoHundredSandboxes) {
  ASSERT_NO_FATAL_FAILURE(start());
  std::vector<std::unique_ptr<Sandbox>> all;
  for (std::size_t i = 0; i < kMany; ++i) {
    all.push_back(node_->sandbox({.pod = fmt::format("pod{}", i),
                                  .names = true,
                                  .light = true,
                                  .standin = {{"GROUP_DELAY_MS", "0"}, {"MOVE_DELAY_MS", "0"}}}));
    all.back()->start();
  }
  for (const auto& one : all) EXPECT_EQ(settle(*one), "");
  // The first one reads all counters, later ones are answered from what was read.
  const auto known = "kata_cgroupd_sandboxes " + std::to_string(kMany) + "\n";
  std::string text;
  std::vector<double> took;
  ASSERT_TRUE(wait_until([&] {
    text = scrape();
    took.push_back(std::stod(slurp(file("took"))));
    return text.find(known) != std::string::npos &&
           text.find("kata_sandbox_cpu_seconds_total") != std::string::npos;
  }));
  EXPECT_EQ(shell("promtool check metrics <" + file("scraped")), "");
  std::map<std::string, std::size_t> series;
  const std::regex id("sandbox=\"([0-9a-f]{64})\"");
  for (std::sregex_iterator it(text.begin(), text.end(), id), end; it != end; ++it)
    ++series[(*it)[1]];
  EXPECT_EQ(series.size(), kMany);
  std::size_t most = 0;
  for (const auto& [sandbox, count] : series) most = std::max(most, count);
  EXPECT_LE(most, kMostSeries);
  const double first = *std::max_element(took.begin(), took.end());
  // Counters are read anew once in measure.interval: the dearest of many is such a scrape.
  took.clear();
  std::vector<double> daemons, exporters;  // CPU time, which others on the machine do not lengthen
  for (std::ptrdiff_t i = 0; i < kScrapes; ++i) {
    const auto daemon = cpu_ms(daemon_->pid());
    const auto exporter = cpu_ms(exporter_->pid());
    (void)scrape();  // ignored: it is about its price
    took.push_back(std::stod(slurp(file("took"))));
    daemons.push_back(cpu_ms(daemon_->pid()) - daemon);
    exporters.push_back(cpu_ms(exporter_->pid()) - exporter);
  }
  std::sort(took.begin() + kScrapes / 2, took.end());
  std::printf(
      "a scrape of %zu sandboxes: %.0f ms while they are placed, later %.0f ms, and %.0f ms where "
      "all counters are read anew (at most %.0f ms of CPU of the daemon, %.0f ms of the exporter); "
      "%zu series each at most, %zu KiB\n",
      kMany, first, took.at(kScrapes / 2), took.back(),
      *std::max_element(daemons.begin(), daemons.end()),
      *std::max_element(exporters.begin(), exporters.end()), most, text.size() / 1024);
}

KCG_ON_TREE(LiveMetrics, v1);

}  // namespace
}  // namespace kcg::live
