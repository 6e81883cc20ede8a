// SPDX-License-Identifier: Apache-2.0
#include "latency.hpp"

#include <filesystem>
#include <optional>
#include <set>
#include <vector>

#include "hogs.hpp"
#include "timeline.hpp"

namespace kcg::bench {

namespace {

using Json = nlohmann::ordered_json;

constexpr unsigned kTraceMebibytes = 256;  ///< on v1 1,500 lives attach 400,000 times

/// Value: who is to be found in the trace.
struct Wanted {
  int vmm = 0;
  std::set<int> threads;
  std::set<int> vcpus;
  std::string group;
};

/// Nobody's groups are read: that takes the lock which who is placed at this moment needs.
Wanted wanted(const live::Sandbox& sandbox, const live::Truth& truth) {
  Wanted all{truth.vmm, {}, truth.vcpus, sandbox.group()};
  for (const auto& task :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/task", all.vmm)))
    all.threads.insert(std::stoi(task.path().filename()));
  return all;
}

/// `share`: the daemon's beside hogs; nullopt: there are none.
Json one_storm(live::Tree tree, const Storm& storm, std::optional<Share> share) {
  const live::Node node(tree);
  const auto daemon = node.daemon();
  daemon->start();
  std::optional<Hogs> hogs;
  if (share) hogs.emplace(daemon->pid(), *share);
  const Trace trace(kTraceMebibytes);
  std::vector<Wanted> all;
  rage(node, storm, {.on_end = [&](const live::Sandbox& sandbox, const live::Truth& truth) {
         all.push_back(wanted(sandbox, truth));
       }});
  hogs.reset();
  std::vector<Micros> whole, threads, outside;
  const auto events = trace.events();
  for (const auto& one : all)
    if (const auto start = measure(events, one.vmm, one.threads, one.vcpus, one.group)) {
      whole.push_back(start->whole);
      threads.push_back(start->threads);
      outside.push_back(start->outside);
    }
  return {{"exec_to_whole_process_us", summary(whole)},
          {"last_vcpu_start_to_all_threads_us", summary(threads)},
          {"vcpu_ran_outside_us", summary(outside)}};
}

}  // namespace

Json bench_latency(live::Tree tree, const Storm& storm) {
  return {{"lives", storm.lives},
          {"per_second", storm.rate},
          {"quiet", one_storm(tree, storm, std::nullopt)},
          {"hogs_as_a_service", one_storm(tree, storm, Share::of_a_service)},
          {"hogs", one_storm(tree, storm, Share::of_its_unit)}};
}

}  // namespace kcg::bench
