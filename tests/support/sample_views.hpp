// SPDX-License-Identifier: Apache-2.0
//
// Two sandboxes, an ignored bundle and two plans with every field set: what documents, tables and
// the bus are tested with.
#pragma once

#include <vector>

#include "measure/survey.hpp"
#include "model/sandbox_history.hpp"
#include "model/view.hpp"
#include "show/plan_documents.hpp"
#include "show/view.hpp"

namespace kcg::samples {

inline constexpr const char* kFirstId =
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
inline constexpr const char* kSecondId =
    "01239999aaaabbbbccccddddeeeeffff01239999aaaabbbbccccddddeeeeffff";

/// cgroup v2, sandbox-only, degraded: one vCPU thread sits outside, one limit is missing.
[[nodiscard]] SandboxView degraded();
/// cgroup v1, legacy, all well, little known.
[[nodiscard]] SandboxView legacy();
/// A runc pod.
[[nodiscard]] SandboxView ignored();

/// What has happened to degraded(), and to a pod that is gone.
[[nodiscard]] std::vector<SandboxHistory> histories();
/// Of two handlers: many sandboxes with guests of different sizes, and a few.
[[nodiscard]] Survey survey();
inline constexpr const char* kGoneId =
    "4567cdef4567cdef4567cdef4567cdef4567cdef4567cdef4567cdef4567cdef";

/// What would be done for degraded().
[[nodiscard]] Planned planned_v2();
/// v1, legacy: groups of one path in several hierarchies.
[[nodiscard]] Planned planned_v1();

}  // namespace kcg::samples
