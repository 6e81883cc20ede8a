// SPDX-License-Identifier: Apache-2.0
//
// kcg-bench: how fast sandboxes are placed, and what the daemon costs, as one JSON document.
// Figures come from outside: the kernel's tracepoints, /proc and the VMM itself. They are compared
// with bare system calls of the same run, not with a threshold.
#include <signal.h>
#include <sys/utsname.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "baseline.hpp"
#include "lives.hpp"
#include "support/live/kernel.hpp"
#include "support/live/placement.hpp"
#include "support/live/programs.hpp"
#include "support/live/wait.hpp"
#include "timeline.hpp"

namespace kcg::bench {
namespace {

using Json = nlohmann::ordered_json;
using live::Tree;

constexpr int kSettlingSeconds = 3;

/// Value: the command line.
struct Options {
  std::string tree = "both";
  std::size_t starts = 200;
  int vcpus = 2;
  bool names = false;
  std::size_t settled = 50;
  std::size_t many = 200;
  int seconds = 10;
  long strangers = 2000;
  Storm storm;
};

live::SandboxSpec light(std::size_t number) {
  return {.pod = fmt::format("pod{}", number), .names = true, .light = true, .vcpus = 2};
}

double ratio(const std::vector<Micros>& of, const std::vector<Micros>& to) {
  auto above = of;
  auto below = to;
  const auto bare = percentile(below, 50).count();
  return bare == 0 ? 0.0 : static_cast<double>(percentile(above, 50).count()) / double(bare);
}

/// One real start; false when it was not placed or not seen.
bool one_start(const Options& o, const live::Node& node, const Trace& trace,
               std::vector<Start>& starts) {
  const auto sandbox = node.sandbox({.names = o.names, .vcpus = o.vcpus});
  trace.clear();
  sandbox->start();
  const bool placed = live::settle(*sandbox).empty();
  const auto truth = sandbox->truth();
  std::set<int> threads;
  for (const auto& thread : live::threads_of(truth.vmm)) threads.insert(thread.tid);
  const auto start = measure(trace.events(), truth.vmm, threads, truth.vcpus, sandbox->group());
  if (placed && start) starts.push_back(*start);
  sandbox->end();
  return placed && start && live::gone(*sandbox).empty();
}

Json bench_starts(const Options& o, const live::Node& node) {
  const Trace trace;
  std::vector<Start> starts;
  std::size_t failures = 0;
  std::vector<Micros> whole, threads, outside, bare_mkdir, bare_process, bare_threads;
  for (std::size_t i = 0; i < o.starts; ++i) {
    if (!one_start(o, node, trace, starts)) ++failures;
    const auto bare = bare_round(node, o.vcpus);
    bare_mkdir.push_back(bare.mkdir);
    bare_process.push_back(bare.process);
    bare_threads.push_back(bare.threads);
  }
  for (const auto& start : starts) {
    whole.push_back(start.whole);
    threads.push_back(start.threads);
    outside.push_back(start.outside);
  }
  return {{"starts", o.starts},
          {"failures", failures},
          {"vcpus", o.vcpus},
          {"exec_to_whole_process_us", summary(whole)},
          {"last_vcpu_start_to_all_threads_us", summary(threads)},
          {"vcpu_ran_outside_its_group_us", summary(outside)},
          {"bare_us",
           {{"mkdir", summary(bare_mkdir)},
            {"process", summary(bare_process)},
            {"threads", summary(bare_threads)}}},
          {"ratio_of_p50",
           {{"whole_process", ratio(whole, bare_process)},
            {"all_threads", ratio(threads, bare_threads)}}}};
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

Json with_strangers(const Options& o, const live::Node& node, const live::Daemon& daemon) {
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

Json bench_cost(const Options& o, const live::Node& node, const live::Daemon& daemon) {
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

/// A part is left out when its number is 0.
Json bench_tree(const Options& o, Tree tree) {
  const auto missing = live::missing_for_live_tests(tree);
  if (!missing.empty()) throw std::runtime_error("needs " + missing);
  Json result;
  if (o.storm.lives > 0) result["life"] = bench_lives(tree, o.storm);
  if (o.starts + o.many == 0) return result;
  const live::Node node(tree);
  const auto daemon = node.daemon();
  daemon->start();
  if (o.starts > 0) result.update(bench_starts(o, node));
  if (o.many > 0) result["cost"] = bench_cost(o, node, *daemon);
  return result;
}

Json machine() {
  utsname name{};
  ::uname(&name);
  return {{"kernel", name.release}, {"cpus", std::thread::hardware_concurrency()}};
}

int run(const Options& o) {
  Json document = {{"version", 1},
                   {"method",
                    "times between the kernel's tracepoints sched_process_exec, task_newtask, "
                    "sys_enter_ioctl (KVM_RUN) and cgroup_attach_task; classes and vCPU threads as "
                    "the VMM names them; an "
                    "attach that the birth in the right group made needless counts as 0"},
                   {"machine", machine()}};
  if (o.tree != "v2") document["v1"] = bench_tree(o, Tree::v1);
  if (o.tree != "v1") document["v2"] = bench_tree(o, Tree::v2);
  std::printf("%s\n", document.dump(2).c_str());
  return 0;
}

}  // namespace
}  // namespace kcg::bench

int main(int argc, char** argv) {
  kcg::bench::Options o;
  CLI::App app{"Measures kata-cgroupd from outside; prints JSON."};
  app.add_option("--tree", o.tree, "v1, v2 or both")->check(CLI::IsMember({"v1", "v2", "both"}));
  app.add_option("--starts", o.starts, "sandboxes with a real QEMU, one after the other");
  app.add_option("--vcpus", o.vcpus, "vCPUs of each");
  app.add_flag("--names", o.names, "with thread names (debug-threads=on)");
  app.add_option("--settled", o.settled, "light sandboxes that stand while CPU time is measured");
  app.add_option("--many", o.many, "light sandboxes at which memory is measured");
  app.add_option("--seconds", o.seconds, "length of each CPU measurement");
  app.add_option("--strangers", o.strangers, "fork+exec per second of the busy node");
  app.add_option("--lives", o.storm.lives, "light sandboxes that start, live and end");
  app.add_option("--rate", o.storm.rate, "of these, how many start each second");
  app.add_option("--kvm", o.storm.kvm, "whether these have vCPUs of KVM");
  CLI11_PARSE(app, argc, argv);
  try {
    return kcg::bench::run(o);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kcg-bench: %s\n", error.what());
    return 1;
  }
}
