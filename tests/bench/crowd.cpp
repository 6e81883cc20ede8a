// SPDX-License-Identifier: Apache-2.0
#include "crowd.hpp"

#include <signal.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

#include "support/live/kernel.hpp"
#include "support/live/placement.hpp"
#include "support/live/programs.hpp"
#include "support/live/wait.hpp"

namespace kcg::bench {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kSettlingSeconds = 3;
/// Longer than an interval of measuring: how a VMM maps its RAM is looked at in the first round.
constexpr int kFirstRoundSeconds = 13;

live::SandboxSpec light(std::size_t number) {
  return {.pod = fmt::format("pod{}", number), .names = true, .light = true, .vcpus = 2};
}

/// Share of one CPU that the daemon uses while time passes.
Json cpu_over(const live::Daemon& daemon, int seconds) {
  const auto before = live::cpu_time(daemon.pid());
  const auto begin = std::chrono::steady_clock::now();
  (void)live::wait_until([&] { return !live::alive(daemon.pid()); },  // ignored: looked at below
                         std::chrono::seconds(seconds), std::chrono::milliseconds(250));
  if (!live::alive(daemon.pid())) throw std::runtime_error("the daemon ended:\n" + daemon.log());
  const std::chrono::duration<double> used = live::cpu_time(daemon.pid()) - before;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  return {{"seconds", passed.count()}, {"cpu_percent", 100 * used.count() / passed.count()}};
}

Json with_strangers(const Crowd& o, const live::Node& node, const live::Daemon& daemon) {
  live::Command command;
  command.argv = {live::built("tests/support/strangers"), std::to_string(o.strangers)};
  command.groups = node.corner().system();
  command.output = node.run_root() + "/strangers";
  auto strangers = live::Child::start(command);
  auto result = cpu_over(daemon, o.seconds);
  strangers.signal(SIGTERM);
  (void)strangers.wait(live::kPatience);  // ignored: without its output the rate below is 0
  double made = 0;
  double time = 0;
  if (std::sscanf(live::slurp(command.output).c_str(), "%lf %lf", &made, &time) == 2)
    result["strangers_per_second"] = made / time;
  return result;
}

}  // namespace

Json bench_cost(const Crowd& o, const live::Node& node, const live::Daemon& daemon) {
  const auto resident = [&] { return live::resident_kib(daemon.pid()); };
  Json result = {{"resident_kib_empty", resident()}};
  std::vector<std::unique_ptr<live::Sandbox>> all;
  std::size_t misplaced = 0;
  const auto grow_to = [&](std::size_t count) {
    const auto first = all.size();
    for (std::size_t i = first; i < count; ++i) {
      all.push_back(node.sandbox(light(i)));
      all.back()->start();
    }
    for (std::size_t i = first; i < all.size(); ++i)
      if (!live::settle(*all[i]).empty()) ++misplaced;
  };
  grow_to(o.settled);
  result["settled"] = o.settled;
  (void)cpu_over(daemon, kSettlingSeconds);  // ignored: the daemon's last looks at new threads
  result["idle"] = cpu_over(daemon, o.seconds);
  result["busy_node"] = with_strangers(o, node, daemon);
  grow_to(o.many);
  result["many"] = o.many;
  result["resident_kib_many"] = resident();
  result["misplaced"] = misplaced;
  for (const auto& sandbox : all) sandbox->shim().signal(SIGTERM);
  return result;
}

Json bench_standing(live::Tree tree, const Crowd& crowd) {
  const live::Node node(tree);
  std::vector<std::unique_ptr<live::Sandbox>> all;
  Json result = {{"sandboxes", crowd.standing}};
  std::size_t misplaced = 0;
  for (const auto& [key, interval] :
       {std::pair{"unmeasured", "off"}, std::pair{"measured", "10s"}}) {
    const auto daemon =
        node.daemon({.config = fmt::format("[measure]\ninterval = \"{}\"\n", interval)});
    daemon->start();
    while (all.size() < crowd.standing) {
      all.push_back(node.sandbox(light(all.size())));
      all.back()->start();
    }
    (void)live::settle(*all.back());              // ignored: it is counted with the others below
    (void)cpu_over(*daemon, kFirstRoundSeconds);  // ignored: that is no standing yet
    result[key] = cpu_over(*daemon, crowd.seconds);
    result[key]["resident_kib"] = live::resident_kib(daemon->pid());
    for (const auto& sandbox : all)
      if (!live::misplaced(*sandbox, sandbox->truth()).empty()) ++misplaced;
  }
  result["misplaced"] = misplaced;
  for (const auto& sandbox : all) sandbox->shim().signal(SIGTERM);
  return result;
}

}  // namespace kcg::bench
