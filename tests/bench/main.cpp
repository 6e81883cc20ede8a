// SPDX-License-Identifier: Apache-2.0
//
// kcg-bench: how fast sandboxes are placed, and what the daemon costs, as one JSON document.
// Figures come from outside: the kernel's tracepoints, /proc and the VMM itself. They are compared
// with bare system calls of the same run, not with a threshold.
#include <signal.h>
#include <sys/utsname.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "baseline.hpp"
#include "chain.hpp"
#include "crowd.hpp"
#include "latency.hpp"
#include "lives.hpp"
#include "peers.hpp"
#include "support/live/kernel.hpp"
#include "support/live/placement.hpp"
#include "support/live/programs.hpp"
#include "support/live/wait.hpp"
#include "timeline.hpp"

namespace kcg::bench {
namespace {

using Json = nlohmann::ordered_json;
using live::Tree;

/// Value: the command line.
struct Options {
  std::string tree = "both";
  std::size_t starts = 200;
  int vcpus = 2;
  bool names = false;
  Crowd crowd;
  Storm storm;
  Storm qemus{.lives = 0, .rate = 2, .light = false, .names = false};
  Storm bystander{0, 5};
  std::size_t latency = 0;
  std::size_t peers = 0;
  Chain chain;
};

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

/// A part is left out when its number is 0.
Json bench_tree(const Options& o, Tree tree) {
  const auto missing = live::missing_for_live_tests(tree);
  if (!missing.empty()) throw std::runtime_error("needs " + missing);
  Json result;
  if (o.storm.lives > 0) {
    result["life"] = bench_lives(tree, o.storm);
    result["life"]["nri_answer_us"] = bench_answers(tree, o.storm);
  }
  if (o.qemus.lives > 0) result["qemu_life"] = bench_lives(tree, o.qemus);
  if (o.latency > 0)
    result["latency"] = bench_latency(tree, {o.latency, o.storm.rate, o.storm.length});
  if (o.peers > 0 && tree == Tree::v1) result["peers"] = bench_peers(o.peers);
  if (o.bystander.lives > 0) result["bystander"] = bench_bystander(tree, o.bystander);
  if (o.chain.pairs > 0) result["chain"] = bench_chain(tree, o.chain);
  if (o.crowd.standing > 0) result["standing"] = bench_standing(tree, o.crowd);
  if (o.crowd.found > 0) result["cold_start"] = bench_cold_start(tree, o.crowd);
  if (o.crowd.churn_us > 0) result["churn"] = bench_churn(tree, o.crowd);
  if (o.starts + o.crowd.many == 0) return result;
  const live::Node node(tree);
  const auto daemon = node.daemon();
  daemon->start();
  if (o.starts > 0) result.update(bench_starts(o, node));
  if (o.crowd.many > 0) result["cost"] = bench_cost(o.crowd, node, *daemon);
  return result;
}

/// It would hear of all that is measured, and its work would make that dearer.
void refuse_beside_a_daemon() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc"))
    if (live::slurp_line(entry.path() / "comm") == "kata-cgroupd")
      throw std::runtime_error("a kata-cgroupd runs already, as process " +
                               entry.path().filename().string() +
                               ": it would be measured, too; stop it first");
}

Json machine() {
  utsname name{};
  ::uname(&name);
  return {{"kernel", name.release}, {"cpus", std::thread::hardware_concurrency()}};
}

int run(const Options& o) {
  refuse_beside_a_daemon();
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
  app.add_option("--settled", o.crowd.settled,
                 "light sandboxes that stand while CPU time is measured");
  app.add_option("--many", o.crowd.many, "light sandboxes at which memory is measured");
  app.add_option("--seconds", o.crowd.seconds, "length of each CPU measurement");
  app.add_option("--first-round", o.crowd.first_round,
                 "seconds before those that stand are measured");
  app.add_option("--few", o.crowd.few, "lives before the others stand, and beside them");
  app.add_option("--strangers", o.crowd.strangers, "fork+exec per second of the busy node");
  app.add_option("--standing", o.crowd.standing,
                 "light sandboxes that stand while the price of measuring them is taken");
  app.add_option("--found", o.crowd.found, "light sandboxes that run when the daemon starts");
  app.add_option("--churn", o.crowd.churn_us,
                 "every so many microseconds a VMM starts a thread that ends at once");
  app.add_option("--lives", o.storm.lives, "light sandboxes that start, live and end");
  app.add_option("--qemu-lives", o.qemus.lives, "the same with a real QEMU, 2 a second");
  app.add_option("--latency", o.latency,
                 "of these, how many while placing is timed, without and beside busy CPUs");
  app.add_option("--peers", o.peers, "lives that others manage, on v1 (libcgroup, cgrulesengd)");
  app.add_option("--bystander", o.bystander.lives,
                 "of these, how many while somebody's forks are timed, at 5 a second");
  app.add_option("--chain", o.chain.pairs,
                 "pairs of runs in which pods start at once, with our NRI plugin and without");
  app.add_option("--pods", o.chain.pods, "how many start at once in each of these");
  app.add_option("--rate", o.storm.rate, "of these, how many start each second");
  app.add_option_function<unsigned>(
      "--length",
      [&o](unsigned ms) {
        for (auto* storm : {&o.storm, &o.qemus, &o.bystander})
          storm->length = std::chrono::milliseconds(ms);
      },
      "milliseconds that each of these lives, and of those with a real QEMU (4000)");
  app.add_option("--kvm", o.storm.kvm, "whether these have vCPUs of KVM");
  app.add_option("--vcpu-names", o.storm.names,
                 "whether their vCPUs say what they are; without KVM they do");
  CLI11_PARSE(app, argc, argv);
  try {
    return kcg::bench::run(o);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kcg-bench: %s\n", error.what());
    return 1;
  }
}
