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
  std::optional<Micros> last_vcpu;
  std::map<int, Micros> first_run;
  Micros last_attach{0};
  std::map<int, Micros> first_in;  // hierarchy -> when the main thread came; born there: absent
  for (const auto& event : events) {
    if (event.kind == EventKind::exec && event.pid == vmm) exec = event.at;
    if (event.kind == EventKind::new_task && vcpus.count(event.pid) != 0) last_vcpu = event.at;
    if (event.kind == EventKind::kvm_run && vcpus.count(event.pid) != 0)
      first_run.emplace(event.pid, event.at);
    if (event.kind != EventKind::attach || !within(event.path, group)) continue;
    if (vmm_threads.count(event.pid) != 0) last_attach = event.at;
    if (exec && event.pid == vmm) first_in.emplace(event.hierarchy, event.at);
  }
  if (!exec || !last_vcpu) return std::nullopt;
  Start start;
  for (const auto& [hierarchy, at] : first_in) start.whole = std::max(start.whole, at - *exec);
  start.threads = std::max(Micros(0), last_attach - *last_vcpu);
  Micros last_run = *last_vcpu;  // without KVM a vCPU runs from its start on
  for (const auto& [tid, at] : first_run) last_run = std::max(last_run, at);
  start.run = std::max(Micros(0), last_attach - last_run);
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
          {"max", percentile(samples, 100).count()},
          {"samples", samples.size()}};
}

}  // namespace kcg::bench
