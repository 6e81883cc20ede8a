// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/metrics/families.hpp"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "base/utf8.hpp"

namespace kcg::cgctl {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;
using Number = std::optional<std::uint64_t>;

constexpr double kUsecPerSecond = 1e6;
/// What a sandbox has beside its conditions: everything that add_sandbox() can tell.
constexpr std::size_t kSeriesBesideConditions = 26;
constexpr std::array kClasses = {ThreadClass::vcpu, ThreadClass::io, ThreadClass::vmm,
                                 ThreadClass::shim};

double seconds(std::uint64_t usec) { return static_cast<double>(usec) / kUsecPerSecond; }

/// One kind of value, filled sandbox by sandbox.
class Family final {
 public:
  Family(const char* name, const char* help, MetricType type) {
    family_.name = name;
    family_.help = help;
    family_.type = type;
  }

  void add(Labels labels, double value) {
    ClientMetric one;
    one.label = std::move(labels);
    (family_.type == MetricType::Counter ? one.counter.value : one.gauge.value) = value;
    family_.metric.push_back(std::move(one));
  }
  void add(const Labels& labels, const Number& value) {
    if (value) add(labels, static_cast<double>(*value));
  }
  void add_usec(const Labels& labels, const Number& usec) {
    if (usec) add(labels, seconds(*usec));
  }
  void add(ClientMetric one) { family_.metric.push_back(std::move(one)); }
  /// A kind of which nothing is known is not told.
  void move_to(std::vector<MetricFamily>& all) {
    if (!family_.metric.empty()) all.push_back(std::move(family_));
  }

 private:
  MetricFamily family_;
};

Labels with(Labels labels, const char* name, std::string_view value) {
  labels.push_back({name, valid_utf8(value)});
  return labels;
}

Labels labels_of(const SandboxView& view) {
  return {{"namespace", valid_utf8(view.pod_namespace)},
          {"pod", valid_utf8(view.pod_name)},
          {"sandbox", valid_utf8(view.id)},
          {"handler", valid_utf8(view.handler)}};
}

/// Value: what is told of the daemon itself.
struct DaemonFamilies {
  Family up{"kata_cgroupd_up", "Whether kata-cgroupd runs and answers.", MetricType::Gauge};
  Family info{"kata_cgroupd_info", "What kata-cgroupd is, by its labels.", MetricType::Gauge};
  Family sandboxes{"kata_cgroupd_sandboxes", "Sandboxes that are known.", MetricType::Gauge};
  Family problems{"kata_cgroupd_problems", "What of kata-cgroupd itself does not work.",
                  MetricType::Gauge};
  Family source{"kata_cgroupd_source_up",
                "Whether a source of events, or a link, works; none for what is not wanted.",
                MetricType::Gauge};
  Family raised{"kata_cgroupd_conditions_raised_total",
                "How often a condition was raised on any sandbox, also on those that are gone.",
                MetricType::Counter};
  Family placement{"kata_cgroupd_placement_seconds",
                   "How long vCPU threads have waited from their birth for their place.",
                   MetricType::Histogram};
};

ClientMetric placement_metric(const PlacementTimes& times) {
  ClientMetric one;
  one.histogram.sample_count = times.count;
  one.histogram.sample_sum = seconds(times.sum_usec);
  for (const auto& [usec, count] : times.within)
    one.histogram.bucket.push_back({count, seconds(usec)});
  return one;
}

void add_daemon(DaemonFamilies& to, const DaemonState& daemon, std::size_t sandboxes) {
  to.up.add({}, daemon.running ? 1.0 : 0.0);
  if (!daemon.running) return;
  to.info.add({{"version", valid_utf8(daemon.version)},
               {"mode", valid_utf8(daemon.mode)},
               {"hierarchy", valid_utf8(daemon.hierarchy)}},
              1.0);
  to.sandboxes.add({}, static_cast<double>(sandboxes));
  to.problems.add({}, static_cast<double>(daemon.problems.size()));
  for (const auto& [part, state] : daemon.parts)
    if (state != "off")
      to.source.add({{"source", valid_utf8(part)}}, state == "working" ? 1.0 : 0.0);
  for (const auto& [condition, times] : daemon.raised)
    to.raised.add({{"condition", valid_utf8(condition)}}, static_cast<double>(times));
  if (daemon.placements && !daemon.placements->within.empty())
    to.placement.add(placement_metric(*daemon.placements));
}

/// Value: what is told of each sandbox.
struct SandboxFamilies {
  Family info{"kata_sandbox_info", "What the sandbox is, by its labels.", MetricType::Gauge};
  Family start{"kata_sandbox_start_time_seconds", "When the VM was started, since 1970.",
               MetricType::Gauge};
  Family used{"kata_sandbox_memory_used_bytes", "Memory that the sandbox's group is charged with.",
              MetricType::Gauge};
  Family limit{"kata_sandbox_memory_limit_bytes",
               "Memory limit of the sandbox's group; none where it has no limit.",
               MetricType::Gauge};
  Family guest{"kata_sandbox_memory_guest_bytes", "RAM of the guest in it.", MetricType::Gauge};
  Family cache{"kata_sandbox_memory_cache_bytes", "Files in it, which can be reclaimed.",
               MetricType::Gauge};
  Family overhead{"kata_sandbox_memory_overhead_used_bytes",
                  "What the VM uses beside its guest and files.", MetricType::Gauge};
  Family peak{"kata_sandbox_memory_overhead_peak_bytes", "The most of that in the VM's life.",
              MetricType::Gauge};
  Family declared{"kata_sandbox_memory_overhead_declared_bytes",
                  "What the limit grants the VM for that.", MetricType::Gauge};
  Family cpu_all{"kata_sandbox_cpu_usage_seconds_total", "CPU time of the whole sandbox.",
                 MetricType::Counter};
  Family cpu{"kata_sandbox_cpu_seconds_total", "CPU time by class of threads.",
             MetricType::Counter};
  Family throttled{"kata_sandbox_cpu_throttled_seconds_total",
                   "For how long a class was held at its quota.", MetricType::Counter};
  Family periods{"kata_sandbox_cpu_throttled_periods_total",
                 "In how many periods a class was held at its quota.", MetricType::Counter};
  Family waiting{"kata_sandbox_pressure_waiting_seconds_total",
                 "For how long something in the sandbox waited for a resource.",
                 MetricType::Counter};
  Family kills{"kata_sandbox_oom_kills_total",
               "Processes of the sandbox that the kernel killed for want of memory.",
               MetricType::Counter};
  Family condition{"kata_sandbox_condition", "A condition that holds.", MetricType::Gauge};
};

void add_conditions(Family& to, const Labels& labels, const SandboxView& view) {
  auto conditions = view.conditions;
  std::stable_sort(conditions.begin(), conditions.end(), [](const auto& a, const auto& b) {
    return a.condition.severity > b.condition.severity;
  });
  std::set<ConditionName> told;
  for (const auto& [condition, since] : conditions) {
    if (told.size() == kMostSeriesOfSandbox - kSeriesBesideConditions) return;
    if (!told.insert(condition.condition).second) continue;
    to.add(with(with(labels, "condition", info(condition.condition).name), "severity",
                name(condition.severity)),
           1.0);
  }
}

void add_classes(SandboxFamilies& to, const Labels& labels, const GroupCounters& counters) {
  for (const auto cls : kClasses) {
    const auto& cpu = counters.by_class.at(static_cast<std::size_t>(cls));
    const auto named = with(labels, "class", name(cls));
    to.cpu.add_usec(named, cpu.usage_usec);
    to.throttled.add_usec(named, cpu.throttled_usec);
    to.periods.add(named, cpu.throttled_periods);
  }
}

void add_usage(SandboxFamilies& to, const Labels& labels, const SandboxUsage& usage) {
  const auto& [memory, peak, counters] = usage;
  to.guest.add(labels, memory.guest);
  to.cache.add(labels, memory.cache);
  to.overhead.add(labels, memory.overhead);
  to.peak.add(labels, peak);
  to.kills.add(labels, counters.oom_kills);
  to.cpu_all.add_usec(labels, counters.cpu_usec);
  add_classes(to, labels, counters);
  to.waiting.add_usec(with(labels, "resource", "memory"), counters.memory.total_usec);
  to.waiting.add_usec(with(labels, "resource", "cpu"), counters.cpu.total_usec);
  to.waiting.add_usec(with(labels, "resource", "io"), counters.io.total_usec);
}

void add_sandbox(SandboxFamilies& to, const SandboxView& view) {
  const auto labels = labels_of(view);
  auto about = with(with(labels, "state", name(view.state)), "layout", name(view.layout));
  about = with(with(about, "engine", name(view.engine)), "hypervisor", name(view.hypervisor));
  to.info.add(about, 1.0);
  if (view.created > 0) to.start.add(labels, static_cast<double>(view.created));
  to.used.add(labels, view.memory_used);
  to.limit.add(labels, view.memory_limit);
  to.declared.add(labels, static_cast<double>(view.overhead.memory_bytes));
  add_conditions(to.condition, labels, view);
}

}  // namespace

std::vector<MetricFamily> metric_families(const DaemonState& daemon,
                                          const std::vector<SandboxView>& views,
                                          const std::map<std::string, SandboxUsage>& usage) {
  DaemonFamilies node;
  SandboxFamilies each;
  add_daemon(node, daemon, views.size());
  for (const auto& view : views) {
    add_sandbox(each, view);
    if (const auto it = usage.find(view.id); it != usage.end())
      add_usage(each, labels_of(view), it->second);
  }
  std::vector<MetricFamily> all;
  for (auto* family :
       {&node.up,       &node.info,      &node.sandboxes, &node.problems,  &node.source,
        &node.raised,   &node.placement, &each.info,      &each.start,     &each.used,
        &each.limit,    &each.guest,     &each.cache,     &each.overhead,  &each.peak,
        &each.declared, &each.cpu_all,   &each.cpu,       &each.throttled, &each.periods,
        &each.waiting,  &each.kills,     &each.condition})
    family->move_to(all);
  return all;
}

std::string metrics_text(const std::vector<MetricFamily>& families) {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, families);
  return out.str();
}

}  // namespace kcg::cgctl
