// SPDX-License-Identifier: Apache-2.0
//
// One pass as fold() gets it.
#pragma once

#include <gtest/gtest.h>

#include <chrono>

#include "record/fold.hpp"
#include "record/outcomes.hpp"
#include "record/record.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {

using namespace std::chrono_literals;

inline constexpr Instant kNow = 100s;
inline constexpr std::int64_t kWall = 1'700'000'000;

/// Inputs of fold() for a sandbox that is well.
struct Case {
  Case() {
    observed.host = fake_host_v2();
    observed.inputs.id = SandboxId::parse("S").value();
    observed.proven_kata = true;
    Process shim;
    shim.role = ProcessRole::shim;
    shim.facts.key = {10, 1};
    Process vmm;
    vmm.role = ProcessRole::vmm;
    vmm.facts.key = {20, 2};
    vmm.hypervisor = Hypervisor::qemu;
    Thread vcpu;
    vcpu.facts.key = {21, 3};
    vcpu.cls = ThreadClass::vcpu;
    vcpu.by = ClassSource::kvm;
    vmm.threads = {vcpu};
    observed.processes = {shim, vmm};
    want.act = true;
  }
  Folded fold(unsigned round = 1, Instant now = kNow) {
    auto folded = kcg::fold(record, observed, want, report, round, now,
                            kWall + std::chrono::duration_cast<std::chrono::seconds>(now).count());
    record = folded.record;
    return folded;
  }
  StepResult& result(Operation operation, Outcome outcome, int code = 0) {
    StepResult one;
    one.step = {{"v2", CgroupPath::parse("/p/kata-sandbox-S").value()}, std::move(operation)};
    one.outcome = outcome;
    one.code = code;
    one.text = "text";
    return report.results.emplace_back(std::move(one));
  }
  [[nodiscard]] std::vector<ConditionName> names() const {
    std::vector<ConditionName> found;
    for (const auto& active : record.conditions) found.push_back(active.condition.condition);
    return found;
  }
  Observed observed;
  Desired want;
  Report report;
  Record record;
};
using Names = std::vector<ConditionName>;
using enum ConditionName;

}  // namespace kcg::test
