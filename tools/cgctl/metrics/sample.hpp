// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

namespace kcg::cgctl {

/// Value: what the daemon on a bus says of itself and of its sandboxes now.
struct MetricsSample {
  std::vector<prometheus::MetricFamily>
      families;         ///< kata_cgroupd_up alone where it is not reached
  std::string why_not;  ///< it is not reached; "": it is
};

/// Blocks for as long as it takes the daemon to answer, at most 45 s.
[[nodiscard]] MetricsSample take_metrics(const std::string& bus);

}  // namespace kcg::cgctl
