// SPDX-License-Identifier: Apache-2.0
//
// From tracepoints to the two times that the product promises.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "trace.hpp"

namespace kcg::bench {

/// Value: one start, measured.
struct Start {
  Micros whole{0};    ///< VMM's exec until its main thread is in its group in every hierarchy
  Micros threads{0};  ///< last vCPU thread's start until every thread is in place; a thread that
                      ///< is born later counts from its own start
  Micros outside{0};  ///< the longest that a vCPU ran (KVM_RUN) before it was in its group
};

/// nullopt when the exec or a vCPU's start is not among the events. `vmm_threads` includes `vcpus`.
[[nodiscard]] std::optional<Start> measure(const std::vector<Event>& events, int vmm,
                                           const std::set<int>& vmm_threads,
                                           const std::set<int>& vcpus, const std::string& group);

/// {"p50":..,"p95":..,"p99":..,"max":..,"samples":..}, microseconds.
[[nodiscard]] nlohmann::ordered_json summary(std::vector<Micros> samples);
[[nodiscard]] Micros percentile(std::vector<Micros>& samples, std::size_t percent);

}  // namespace kcg::bench
