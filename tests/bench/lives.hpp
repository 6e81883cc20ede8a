// SPDX-License-Identifier: Apache-2.0
//
// What one ordinary life of a sandbox costs the daemon: CPU time and whole looks, over a storm.
#pragma once

#include <nlohmann/json.hpp>

#include "storm.hpp"

namespace kcg::bench {

/// CPU per life of a daemon that says nothing, looks per life of one that tells each of them, and
/// the bare kernel operations of a life in the same run.
[[nodiscard]] nlohmann::ordered_json bench_lives(live::Tree tree, const Storm& storm);

/// How long an engine waits for the answer to its call for each pod, through the storm; for the
/// same calls before it; and how long it waits in the storm for who has nothing else to do.
[[nodiscard]] nlohmann::ordered_json bench_answers(live::Tree tree, const Storm& storm);

/// How long somebody's fork and exit take through a storm, without the daemon and with it.
[[nodiscard]] nlohmann::ordered_json bench_bystander(live::Tree tree, const Storm& storm);

}  // namespace kcg::bench
