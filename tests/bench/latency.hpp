// SPDX-License-Identifier: Apache-2.0
//
// How long placing takes while sandboxes start at a given rate, by the kernel's tracepoints.
#pragma once

#include <nlohmann/json.hpp>

#include "storm.hpp"

namespace kcg::bench {

/// Of every sandbox of the storm, from the VMM's exec until its process is in its groups, and from
/// its last vCPU thread's start until all threads are: on the quiet machine; beside a process on
/// each CPU that never rests, in a group with as much weight as the daemon's; and with the weight
/// that the daemon's unit asks for.
[[nodiscard]] nlohmann::ordered_json bench_latency(live::Tree tree, const Storm& storm);

}  // namespace kcg::bench
