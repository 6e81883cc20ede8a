// SPDX-License-Identifier: Apache-2.0
#include "storm.hpp"

#include <fmt/format.h>

#include <deque>
#include <memory>
#include <stdexcept>
#include <utility>

#include "support/live/kernel.hpp"
#include "support/live/placement.hpp"
#include "support/live/wait.hpp"

namespace kcg::bench {

namespace {

using std::chrono::steady_clock;

/// Value: one that runs.
struct Life {
  std::unique_ptr<live::Sandbox> sandbox;
  steady_clock::time_point end;
};

std::unique_ptr<live::Sandbox> start(const live::Node& node, const Storm& storm, std::size_t i) {
  live::SandboxSpec spec{
      .pod = fmt::format("pod-storm{}", i), .names = storm.names, .light = storm.light, .vcpus = 2};
  if (storm.light && storm.kvm) spec.standin.emplace("KVM", "1");
  auto sandbox = node.sandbox(std::move(spec));
  sandbox->start();
  return sandbox;
}

}  // namespace

steady_clock::time_point at_pace(steady_clock::time_point begin, std::size_t number, double rate) {
  return begin + std::chrono::duration_cast<steady_clock::duration>(
                     std::chrono::duration<double>(double(number) / rate));
}

void rest_until(steady_clock::time_point when) {
  const auto left = when - steady_clock::now();
  if (left > std::chrono::seconds(0))
    // ignored: nothing is waited for but the time
    (void)live::wait_until([] { return false; },
                           std::chrono::duration_cast<std::chrono::milliseconds>(left),
                           std::chrono::duration_cast<std::chrono::milliseconds>(left));
}

void rage(const live::Node& node, const Storm& storm, const Hooks& hooks) {
  std::deque<Life> running;
  const auto groups = [&] { return node.corner().find("kata-sandbox-").size(); };
  const auto before = groups();
  const auto begin = steady_clock::now();
  const auto end_one = [&] {
    rest_until(running.front().end);
    auto& sandbox = *running.front().sandbox;
    if (hooks.on_end) hooks.on_end(sandbox, sandbox.truth());
    sandbox.end();
    running.pop_front();
  };
  for (std::size_t i = 0; i < storm.lives; ++i) {
    const auto at = at_pace(begin, i, storm.rate);
    while (!running.empty() && running.front().end < at) end_one();
    rest_until(at);
    running.push_back({start(node, storm, i), steady_clock::now() + storm.length});
    if (hooks.on_start) hooks.on_start(*running.back().sandbox);
  }
  while (!running.empty()) end_one();
  if (!live::wait_until([&] { return groups() <= before; }))
    throw std::runtime_error("groups of ended sandboxes are left");
}

std::size_t misplaced_in(const live::Node& node, const Storm& storm) {
  std::size_t misplaced = 0;
  rage(node, storm, {.on_end = [&](const live::Sandbox& sandbox, const live::Truth& truth) {
         if (!live::misplaced(sandbox, truth).empty()) ++misplaced;
       }});
  return misplaced;
}

double cpu_per_life(const live::Node& node, const live::Daemon& daemon, const Storm& storm) {
  const auto before = live::cpu_time(daemon.pid());
  rage(node, storm);
  const std::chrono::duration<double, std::milli> used = live::cpu_time(daemon.pid()) - before;
  return used.count() / static_cast<double>(storm.lives);
}

}  // namespace kcg::bench
