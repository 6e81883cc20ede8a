// SPDX-License-Identifier: Apache-2.0
#include "crowd.hpp"

#include <signal.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "storm.hpp"
#include "support/live/kernel.hpp"
#include "support/live/placement.hpp"
#include "support/live/programs.hpp"
#include "support/live/wait.hpp"

namespace kcg::bench {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kSettlingSeconds = 3;

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

/// Of how many sandboxes the daemon's log says that they were looked at.
std::size_t looked_at(const std::string& log) {
  std::set<std::string_view> ids;
  for (const auto line : lines(log)) {
    const auto id = line.find("sandbox '");
    const auto end = line.find("': ", id);
    if (line.find(", looks: ") != std::string_view::npos && end != std::string_view::npos)
      ids.insert(line.substr(id, end - id));
  }
  return ids.size();
}

/// Processes and threads that this machine has started.
std::uint64_t forks() {
  constexpr std::string_view kKey = "\nprocesses ";
  const auto text = live::slurp("/proc/stat");
  return std::strtoull(text.c_str() + text.find(kKey) + kKey.size(), nullptr, 10);
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
  const Storm few{crowd.few, 5};
  Json result = {{"sandboxes", crowd.standing}};
  std::size_t misplaced = 0;
  struct Mode {
    const char* key;
    const char* measuring;
    const char* resync;
  };
  for (const auto& [key, measuring, resync] :
       {Mode{"unmeasured", "off", "3600s"}, Mode{"measured", "10s", "3600s"},
        Mode{"resynced", "off", "30s"}}) {
    const auto daemon = node.daemon(
        {.config = fmt::format("[measure]\ninterval = \"{}\"\n", measuring), .resync = resync});
    daemon->start();
    if (all.empty()) result["life_alone_cpu_ms"] = cpu_per_life(node, *daemon, few);
    while (all.size() < crowd.standing) {
      all.push_back(node.sandbox(light(all.size())));
      all.back()->start();
    }
    (void)live::settle(*all.back());             // ignored: it is counted with the others below
    (void)cpu_over(*daemon, crowd.first_round);  // ignored: that is no standing yet
    result[key] = cpu_over(*daemon, crowd.seconds);
    result[key]["resident_kib"] = live::resident_kib(daemon->pid());
    for (const auto& sandbox : all)
      if (!live::misplaced(*sandbox, sandbox->truth()).empty()) ++misplaced;
    if (!result.contains("life_beside_cpu_ms"))
      result["life_beside_cpu_ms"] = cpu_per_life(node, *daemon, few);
  }
  result["misplaced"] = misplaced;
  for (const auto& sandbox : all) sandbox->shim().signal(SIGTERM);
  return result;
}

Json bench_cold_start(live::Tree tree, const Crowd& crowd) {
  const live::Node node(tree);
  std::vector<std::unique_ptr<live::Sandbox>> all;
  {
    const auto before = node.daemon();
    before->start();
    while (all.size() < crowd.found) {
      all.push_back(node.sandbox(light(all.size())));
      all.back()->start();
    }
    for (const auto& sandbox : all)
      if (!live::settle(*sandbox).empty()) throw std::runtime_error("a sandbox is not in place");
  }
  const auto daemon = node.daemon({.arguments = {"--log-level", "debug"}});
  const auto begin = std::chrono::steady_clock::now();
  const auto passed = [&] {
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    return time.count();
  };
  daemon->start();
  Json result = {{"sandboxes", crowd.found}, {"ready_ms", passed()}};
  std::size_t looked = 0;
  const auto all_looked_at = [&] { return (looked = looked_at(daemon->log())) == crowd.found; };
  (void)live::wait_until(all_looked_at, std::chrono::minutes(2),
                         std::chrono::milliseconds(20));  // ignored: the number is told
  const std::chrono::duration<double, std::milli> used = live::cpu_time(daemon->pid());
  result["all_looked_at_ms"] = passed();
  result["looked_at"] = looked;
  result["cpu_ms"] = used.count();
  for (const auto& sandbox : all) sandbox->shim().signal(SIGTERM);
  return result;
}

Json bench_churn(live::Tree tree, const Crowd& crowd) {
  const live::Node node(tree);
  const auto daemon = node.daemon();
  daemon->start();
  auto spec = light(0);
  spec.standin.emplace("KVM", "1");
  const auto quiet = node.sandbox(spec);
  quiet->start();
  (void)cpu_over(*daemon, kSettlingSeconds);  // ignored: the daemon's last looks at new threads
  Json result = {{"quiet", cpu_over(*daemon, crowd.seconds)}};
  spec.pod = "pod1";
  spec.standin.emplace("CHURN_US", std::to_string(crowd.churn_us));
  const auto busy = node.sandbox(spec);
  busy->start();
  (void)cpu_over(*daemon, kSettlingSeconds);  // ignored: what it may use up at once
  const auto before = forks();
  result["churning"] = cpu_over(*daemon, crowd.seconds);
  const auto passed = result["churning"]["seconds"].get<double>();
  result["threads_per_second"] = static_cast<double>(forks() - before) / passed;
  result["misplaced"] = live::misplaced(*busy, busy->truth()).empty() ? 0 : 1;
  for (const auto& sandbox : {quiet.get(), busy.get()}) sandbox->shim().signal(SIGTERM);
  return result;
}

}  // namespace kcg::bench
