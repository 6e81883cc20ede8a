// SPDX-License-Identifier: Apache-2.0
#include "timeline.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace kcg::bench {

namespace {

bool within(const std::string& path, const std::string& group) {
  return path == group || path.rfind(group + "/", 0) == 0;
}

}  // namespace

std::optional<Start> measure(const std::vector<Event>& events, int vmm,
                             const std::set<int>& vmm_threads, const std::set<int>& vcpus,
                             const std::string& group) {
  std::optional<Micros> exec;
  Micros last_vcpu{0};
  std::map<int, Micros> born, ran, placed;
  std::map<int, Micros> first_in;  // hierarchy -> when the main thread came; born there: absent
  for (const auto& event : events) {
    if (vmm_threads.count(event.pid) == 0) continue;
    if (event.kind == EventKind::exec && event.pid == vmm) exec = event.at;
    if (event.kind == EventKind::new_task) born[event.pid] = event.at;
    if (event.kind == EventKind::kvm_run) ran.emplace(event.pid, event.at);
    if (event.kind != EventKind::attach || !within(event.path, group)) continue;
    placed[event.pid] = event.at;
    if (exec && event.pid == vmm) first_in.emplace(event.hierarchy, event.at);
  }
  for (const int vcpu : vcpus) {
    if (!exec || born.count(vcpu) == 0) return std::nullopt;
    last_vcpu = std::max(last_vcpu, born[vcpu]);
  }
  Start start;
  for (const auto& [hierarchy, at] : first_in) start.whole = std::max(start.whole, at - *exec);
  for (const auto& [tid, at] : placed) {
    start.threads = std::max(start.threads, at - std::max(last_vcpu, born[tid]));
    if (vcpus.count(tid) != 0 && ran.count(tid) != 0)
      start.outside = std::max(start.outside, at - ran[tid]);
  }
  return start;
}

Micros percentile(std::vector<Micros>& samples, std::size_t percent) {
  if (samples.empty()) return Micros(0);
  std::sort(samples.begin(), samples.end());
  return samples[std::min(samples.size() - 1, samples.size() * percent / 100)];
}

nlohmann::ordered_json summary(std::vector<Micros> samples) {
  return {{"p50", percentile(samples, 50).count()},
          {"p95", percentile(samples, 95).count()},
          {"p99", percentile(samples, 99).count()},
          {"max", percentile(samples, 100).count()},
          {"samples", samples.size()}};
}

}  // namespace kcg::bench
