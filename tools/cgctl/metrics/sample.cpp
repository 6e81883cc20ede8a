// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/metrics/sample.hpp"

#include "tools/cgctl/bus_source.hpp"
#include "tools/cgctl/metrics/families.hpp"

namespace kcg::cgctl {

namespace {

Result<std::vector<prometheus::MetricFamily>> ask(const std::string& bus) {
  const auto daemon = BusSource::connect(bus);
  if (!daemon) return forward(daemon.error());
  const auto views = (*daemon)->list(false);
  if (!views) return forward(views.error());
  const auto usage = (*daemon)->usage();
  if (!usage) return forward(usage.error());
  return metric_families((*daemon)->state(), *views, *usage);
}

}  // namespace

MetricsSample take_metrics(const std::string& bus) {
  auto families = ask(bus);
  if (families) return {*std::move(families), ""};
  return {metric_families({}, {}, {}), families.error().text};
}

}  // namespace kcg::cgctl
