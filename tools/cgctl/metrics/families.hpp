// SPDX-License-Identifier: Apache-2.0
//
// What Prometheus is told of the daemon and its sandboxes: `cgctl metrics` and kata-cgroup-exporter
// say the same. Pure. docs/monitoring/README.md lists every name.
#pragma once

#include <prometheus/metric_family.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "model/usage.hpp"
#include "model/view.hpp"
#include "tools/cgctl/status.hpp"

namespace kcg::cgctl {

/// Of one sandbox, at most; the worst conditions are told.
inline constexpr std::size_t kMostSeriesOfSandbox = 40;

/// What is not known has no series. `usage`: by id.
[[nodiscard]] std::vector<prometheus::MetricFamily> metric_families(
    const DaemonState& daemon, const std::vector<SandboxView>& views,
    const std::map<std::string, SandboxUsage>& usage);

/// Prometheus' text format, which node_exporter's textfile collector reads, too.
[[nodiscard]] std::string metrics_text(const std::vector<prometheus::MetricFamily>& families);

}  // namespace kcg::cgctl
