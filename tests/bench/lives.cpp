// SPDX-License-Identifier: Apache-2.0
#include "lives.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

#include "baseline.hpp"
#include "echo.hpp"
#include "support/live/kernel.hpp"
#include "support/live/node.hpp"
#include "support/nri_engine.hpp"
#include "timeline.hpp"

namespace kcg::bench {

namespace {

using Json = nlohmann::ordered_json;
using std::chrono::steady_clock;

constexpr std::size_t kMostBareLives = 20;

std::size_t count_looks(live::Tree tree, const Storm& storm) {
  const live::Node node(tree);
  const auto daemon = node.daemon({.arguments = {"--log-level", "debug"}});
  daemon->start();
  rage(node, storm);
  return daemon->looks();
}

/// Resource: somebody who starts processes that end at once, 200 a second.
class Bystander final {
 public:
  Bystander() : thread_([this] { live(); }) {}
  ~Bystander() { (void)stop(); }  // ignored: nobody asks any more
  Bystander(const Bystander&) = delete;
  Bystander& operator=(const Bystander&) = delete;
  std::vector<Micros> stop() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
    return std::exchange(took_, {});
  }

 private:
  void live() {
    while (!over_) {
      const auto begin = steady_clock::now();
      const pid_t child = ::fork();
      if (child == 0) ::_exit(0);
      (void)::waitpid(child, nullptr, 0);  // ignored: only the time counts
      took_.push_back(std::chrono::duration_cast<Micros>(steady_clock::now() - begin));
      rest_until(steady_clock::now() + std::chrono::milliseconds(5));
    }
  }

  std::vector<Micros> took_;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

/// At the pace of the storm, so that caches are as cold.
void live_bare(const live::Node& node, const Storm& storm, std::vector<Micros>& lives) {
  const auto begin = steady_clock::now();
  for (std::size_t i = 0; i < std::min(kMostBareLives, storm.lives); ++i) {
    rest_until(at_pace(begin, i, storm.rate));
    lives.push_back(bare_life(node, 2));
  }
}

}  // namespace

Json bench_lives(live::Tree tree, const Storm& storm) {
  const auto per_life = [&](double all) { return all / static_cast<double>(storm.lives); };
  Json result = {{"lives", storm.lives},
                 {"per_second", storm.rate},
                 {"length_ms", storm.length.count()},
                 {"light", storm.light},
                 {"kvm", storm.kvm},
                 {"names", storm.names},
                 {"looks_per_life", per_life(static_cast<double>(count_looks(tree, storm)))}};
  const live::Node node(tree);
  std::vector<Micros> bare_lives;
  live_bare(node, storm, bare_lives);
  const auto daemon = node.daemon();
  daemon->start();
  const auto before = live::cpu_time(daemon->pid());
  const auto misplaced = misplaced_in(node, storm);
  const std::chrono::duration<double, std::milli> used = live::cpu_time(daemon->pid()) - before;
  live_bare(node, storm, bare_lives);  // the machine may be slower by now
  const double bare = static_cast<double>(percentile(bare_lives, 50).count()) / 1000;
  result["misplaced"] = misplaced;
  result["cpu_ms_per_life"] = per_life(used.count());
  result["bare_cpu_ms_per_life"] = bare;
  result["ratio_to_bare"] = bare == 0 ? 0.0 : per_life(used.count()) / bare;
  return result;
}

Json bench_answers(live::Tree tree, const Storm& storm) {
  const live::Node node(tree);
  std::filesystem::create_directories(node.run_root() + "/run/nri");
  nri::FakeEngine engine(node.run_root() + "/run/nri/nri.sock");
  const auto daemon = node.daemon();
  daemon->start();
  engine.greet({});
  const Echo echo;
  std::vector<Micros> idle, raging, echoed;
  const auto time = [](std::vector<Micros>& took, const auto& act) {
    const auto begin = steady_clock::now();
    act();
    took.push_back(std::chrono::duration_cast<Micros>(steady_clock::now() - begin));
  };
  const auto call = [&](const std::string& id, std::vector<Micros>& took) {
    const auto payload = nri::event_call({id, "pod"});
    // ignored: it is empty, and it throws
    time(took, [&] { (void)engine.call("RunPodSandbox", payload); });
  };
  for (std::size_t i = 0; i < storm.lives; ++i) call(fmt::format("idle{}", i), idle);
  const auto on_start = [&](const live::Sandbox& sandbox) {
    const auto echo_time = [&] { time(echoed, [&] { echo.call(); }); };
    const bool echo_first = raging.size() % 2 == 0;  // who is first meets more of the start
    if (echo_first) echo_time();
    call(sandbox.id(), raging);
    if (!echo_first) echo_time();
  };
  rage(node, storm, {.on_start = on_start});
  return {{"idle", summary(idle)}, {"storm", summary(raging)}, {"echo", summary(echoed)}};
}

Json bench_bystander(live::Tree tree, const Storm& storm) {
  const live::Node node(tree);
  Json result;
  for (const bool managed : {false, true}) {
    const auto daemon = node.daemon();
    if (managed) daemon->start();
    Bystander bystander;
    rage(node, storm);
    result[managed ? "with" : "without"] = summary(bystander.stop());
  }
  return result;
}

}  // namespace kcg::bench
