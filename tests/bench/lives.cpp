// SPDX-License-Identifier: Apache-2.0
#include "lives.hpp"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

#include "base/fd.hpp"
#include "baseline.hpp"
#include "support/live/kernel.hpp"
#include "support/live/node.hpp"
#include "support/live/placement.hpp"
#include "support/live/wait.hpp"
#include "support/nri_engine.hpp"
#include "timeline.hpp"

namespace kcg::bench {

namespace {

using Json = nlohmann::ordered_json;
using std::chrono::steady_clock;

constexpr std::size_t kBareLives = 20;

/// Value: one that runs.
struct Life {
  std::unique_ptr<live::Sandbox> sandbox;
  steady_clock::time_point end;
};

/// Called as each sandbox starts.
using OnStart = std::function<void(const live::Sandbox&)>;

std::unique_ptr<live::Sandbox> start(const live::Node& node, const Storm& storm, std::size_t i) {
  live::SandboxSpec spec{.pod = fmt::format("pod{}", i), .light = true, .vcpus = 2};
  if (storm.kvm) spec.standin.emplace("KVM", "1");
  auto sandbox = node.sandbox(std::move(spec));
  sandbox->start();
  return sandbox;
}

void rest_until(steady_clock::time_point when) {
  const auto left = when - steady_clock::now();
  if (left > std::chrono::seconds(0))
    // ignored: nothing is waited for but the time
    (void)live::wait_until([] { return false; },
                           std::chrono::duration_cast<std::chrono::milliseconds>(left),
                           std::chrono::duration_cast<std::chrono::milliseconds>(left));
}

/// Everybody's life; returns how many were not in place in the middle of it.
std::size_t rage(const live::Node& node, const Storm& storm, const OnStart& on_start = {}) {
  std::deque<Life> running;
  std::size_t misplaced = 0;
  const auto begin = steady_clock::now();
  const auto end_one = [&] {
    rest_until(running.front().end);
    auto& sandbox = *running.front().sandbox;
    if (!live::misplaced(sandbox, sandbox.truth()).empty()) ++misplaced;
    sandbox.end();
    running.pop_front();
  };
  for (std::size_t i = 0; i < storm.lives; ++i) {
    const auto at = begin + std::chrono::duration_cast<steady_clock::duration>(
                                std::chrono::duration<double>(double(i) / storm.rate));
    while (!running.empty() && running.front().end < at) end_one();
    rest_until(at);
    running.push_back({start(node, storm, i), steady_clock::now() + storm.length});
    if (on_start) on_start(*running.back().sandbox);
  }
  while (!running.empty()) end_one();
  if (!live::wait_until([&] { return node.corner().find("kata-sandbox-").empty(); }))
    throw std::runtime_error("groups of ended sandboxes are left");
  return misplaced;
}

std::size_t count_looks(live::Tree tree, const Storm& storm) {
  const live::Node node(tree);
  const auto daemon = node.daemon({.arguments = {"--log-level", "debug"}});
  daemon->start();
  (void)rage(node, storm);  // ignored: judged where nothing is logged
  return daemon->looks();
}

/// Resource: somebody who has nothing else to do than to answer.
class Echo final {
 public:
  Echo() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
      throw std::runtime_error("socketpair");
    ours_ = Fd(ends[0]);
    thread_ = std::thread([theirs = Fd(ends[1])] {
      for (char byte = 0; ::read(theirs.get(), &byte, 1) == 1;)
        if (::write(theirs.get(), &byte, 1) != 1) return;
    });
  }
  ~Echo() {
    ours_.reset();
    thread_.join();
  }
  Echo(const Echo&) = delete;
  Echo& operator=(const Echo&) = delete;
  void call() const {
    char byte = 0;
    if (::write(ours_.get(), &byte, 1) != 1 || ::read(ours_.get(), &byte, 1) != 1)
      throw std::runtime_error("the echo is gone");
  }

 private:
  Fd ours_;
  std::thread thread_;
};

/// How long an engine waits for the answer to its call for each pod, through the storm; for the
/// same calls before it; and how long it waits in the storm for who has nothing else to do.
Json answers(live::Tree tree, const Storm& storm) {
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
  (void)rage(node, storm, on_start);  // ignored: judged where no engine calls
  return {{"idle", summary(idle)}, {"storm", summary(raging)}, {"echo", summary(echoed)}};
}

double bare_cpu(const live::Node& node) {
  std::vector<Micros> lives;
  for (std::size_t i = 0; i < kBareLives; ++i) lives.push_back(bare_life(node, 2));
  return static_cast<double>(percentile(lives, 50).count()) / 1000;
}

}  // namespace

Json bench_lives(live::Tree tree, const Storm& storm) {
  const auto per_life = [&](double all) { return all / static_cast<double>(storm.lives); };
  Json result = {{"lives", storm.lives},
                 {"per_second", storm.rate},
                 {"length_ms", storm.length.count()},
                 {"kvm", storm.kvm},
                 {"looks_per_life", per_life(static_cast<double>(count_looks(tree, storm)))},
                 {"nri_answer_us", answers(tree, storm)}};
  const live::Node node(tree);
  const double bare = bare_cpu(node);
  const auto daemon = node.daemon();
  daemon->start();
  const auto before = live::cpu_time(daemon->pid());
  const auto misplaced = rage(node, storm);
  const std::chrono::duration<double, std::milli> used = live::cpu_time(daemon->pid()) - before;
  result["misplaced"] = misplaced;
  result["cpu_ms_per_life"] = per_life(used.count());
  result["bare_cpu_ms_per_life"] = bare;
  result["ratio_to_bare"] = bare == 0 ? 0.0 : per_life(used.count()) / bare;
  return result;
}

}  // namespace kcg::bench
