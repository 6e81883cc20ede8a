// SPDX-License-Identifier: Apache-2.0
//
// Measuring beside the passes: rounds, what is kept of them, and who hears of it.
#include "daemon/node/meter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/units.hpp"
#include "history/condition_news.hpp"
#include "observe/survey_file.hpp"
#include "show/survey_documents.hpp"
#include "unit/daemon/reconciling.hpp"

namespace kcg::test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

constexpr std::uint64_t kRam = 256 * kMib;

class Metering : public Reconciling {
 protected:
  Metering() {
    tree_.make_all("v2", "/kubepods/pod1/x");
    for (const auto* above : {"/", "/kubepods"})
      EXPECT_TRUE(tree_.write({"v2", CgroupPath::parse(above).value()}, "cgroup.subtree_control",
                              "+cpu +memory"));
    config_.placement.existing = ExistingPolicy::place;
    config_.measure_interval = milliseconds(1);
  }
  /// A sandbox with shared RAM, for which an overhead of 64 MiB was declared.
  void begin() {
    shim_ = proc_.start(1, {"containerd-shim", "/usr/bin/containerd-shim-kata-v2", {}});
    vmm_ = proc_.start(shim_, {"qemu-system-x86", "/usr/bin/qemu-system-x86_64", {}});
    proc_.set_mappings(vmm_, std::vector<Mapping>{{kRam, true, true, true, false, {}}});
    start();
    auto registered = registration();
    registered.shim = proc_.key(shim_);
    registered.vmm = proc_.key(vmm_);
    registered.memory_overhead = 64 * kMib;
    ASSERT_TRUE(reconciler_->api().register_sandbox("x", registered));
    run();
  }
  void uses(std::uint64_t overhead, const char* sandbox = "/kubepods/pod1/kata-sandbox-x") {
    const GroupRef group{"v2", CgroupPath::parse(sandbox).value()};
    tree_.set_file(group, "memory.current", std::to_string(overhead + 100 * kMib));
    tree_.set_file(
        group, "memory.stat",
        fmt::format("anon {}\nshmem {}\ninactive_file 0\nactive_file 0", overhead, 100 * kMib));
  }
  [[nodiscard]] OverheadMeasured measured() { return reconciler_->api().measured("x").overhead; }
  /// "": it does not hold.
  [[nodiscard]] std::string told_text(ConditionName condition) {
    for (const auto& one : conditions_of(reconciler_->api().list(false).at(0)))
      if (one.condition == condition) return one.text;
    return "";
  }
  [[nodiscard]] bool exceeded() { return told_text(ConditionName::overhead_exceeded) != ""; }
  /// Waits for the loop's next event; false: not for so long.
  template <class Done>
  bool until(Done done) {
    for (int i = 0; i < 2000; ++i) {
      if (done()) return true;
      if (::sd_event_run(loop_->get(), 5'000'000) <= 0) return false;
    }
    return false;
  }

  Pid shim_ = 0;
  Pid vmm_ = 0;
};

TEST_F(Metering, ListsWhatWasMeasured) {
  begin();
  uses(30 * kMib);
  ASSERT_TRUE(until([&] { return measured().used == 30 * kMib; }));
  uses(20 * kMib);
  ASSERT_TRUE(until([&] { return measured().used == 20 * kMib; }));
  EXPECT_EQ(measured().peak, 30 * kMib);
  const auto view = reconciler_->api().view("x").value();
  EXPECT_EQ(view.overhead_used, measured().used);
  EXPECT_EQ(view.overhead_peak, 30 * kMib);
}

/// The time of these tests is the machine's, so what was used is far more than it could be.
TEST_F(Metering, TellsHowMuchCpuIsUsed) {
  begin();
  const GroupRef group{"v2", CgroupPath::parse("/kubepods/pod1/kata-sandbox-x").value()};
  const auto milli = [this] { return reconciler_->api().measured("x").cpu_milli; };
  tree_.set_file(group, "cpu.stat", "usage_usec 5000000");
  ASSERT_TRUE(until([&] { return milli() == 0U; })) << "twice the same";
  tree_.set_file(group, "cpu.stat", "usage_usec 900000000");
  EXPECT_TRUE(until([&] { return milli() > 0U; }));
}

TEST_F(Metering, MeasuresEachSandboxOfARound) {
  begin();
  tree_.make_all("v2", "/kubepods/pod2/y");
  const Pid shim = proc_.start(1, {"containerd-shim", "/usr/bin/containerd-shim-kata-v2", {}});
  const Pid vmm = proc_.start(shim, {"qemu-system-x86", "/usr/bin/qemu-system-x86_64", {}});
  proc_.set_mappings(vmm, std::vector<Mapping>{{kRam, true, true, true, false, {}}});
  Registration other;
  other.cgroups_path = "/kubepods/pod2/y";
  other.shim = proc_.key(shim);
  other.vmm = proc_.key(vmm);
  ASSERT_TRUE(reconciler_->api().register_sandbox("y", other));
  run();
  uses(30 * kMib);
  uses(40 * kMib, "/kubepods/pod2/kata-sandbox-y");
  const auto used = [this](const char* id) {
    return reconciler_->api().measured(id).overhead.used;
  };
  EXPECT_TRUE(until([&] { return used("x") == 30 * kMib && used("y") == 40 * kMib; }));
}

TEST_F(Metering, ThePeakOutlivesTheDaemon) {
  begin();
  uses(50 * kMib);
  ASSERT_TRUE(until([&] { return measured().used == 50 * kMib; }));
  uses(20 * kMib);
  reconciler_.reset();
  start();
  ASSERT_TRUE(until([&] { return measured().used == 20 * kMib; }));
  EXPECT_EQ(measured().peak, 50 * kMib);
}

TEST_F(Metering, WhoUsesMoreThanWasDeclaredIsToldWithoutAResync) {
  begin();
  uses(30 * kMib);
  ASSERT_TRUE(until([&] { return measured().used == 30 * kMib; }));
  EXPECT_FALSE(exceeded());
  uses(65 * kMib);
  EXPECT_TRUE(until([&] { return exceeded(); }));
  EXPECT_EQ(reconciler_->api().list(false).at(0).state, SandboxState::degraded);
}

TEST_F(Metering, WhoComesNearALimitIsToldWithoutAResync) {
  const GroupRef pod{"v2", CgroupPath::parse("/kubepods/pod1").value()};
  tree_.set_file(pod, "memory.max", std::to_string(200 * kMib));
  begin();
  uses(30 * kMib);  // and 100 MiB of the guest
  ASSERT_TRUE(until([&] { return measured().used == 30 * kMib; }));
  EXPECT_EQ(told_text(ConditionName::memory_near_limit), "");
  uses(95 * kMib);
  EXPECT_TRUE(until([&] { return told_text(ConditionName::memory_near_limit) != ""; }));
  EXPECT_NE(told_text(ConditionName::memory_near_limit).find("/kubepods/pod1 allows 200 MiB"),
            std::string::npos)
      << told_text(ConditionName::memory_near_limit);
  uses(30 * kMib);
  EXPECT_TRUE(until([&] { return told_text(ConditionName::memory_near_limit) == ""; }));
}

TEST_F(Metering, WhoAsksOftenIsAnsweredFromWhatWasRead) {
  config_.measure_interval = hours(24);
  begin();
  ASSERT_TRUE(reconciler_->api().usage("x"));
  unsigned reads = 0;
  tree_.on_read([&] {
    ++reads;
    return 0;
  });
  EXPECT_TRUE(reconciler_->api().usage("x"));
  EXPECT_EQ(reads, 0U);
  EXPECT_FALSE(reconciler_->api().usage("y"));
}

TEST_F(Metering, WhoAsksLaterIsToldWhatIsReadThen) {
  begin();
  const auto charged = [this] {
    return reconciler_->api().usage("x").value().counters.memory_used;
  };
  uses(30 * kMib);
  ASSERT_TRUE(until([&] { return charged() == 130 * kMib; }));
  uses(20 * kMib);
  EXPECT_TRUE(until([&] { return charged() == 120 * kMib; }));
}

TEST_F(Metering, NothingIsMeasuredWhereNobodyWantsIt) {
  config_.measure_interval.reset();
  begin();
  uses(30 * kMib);
  EXPECT_FALSE(reconciler_->api().usage("x"));
  config_.measure_interval = milliseconds(1);
  reconciler_->api().set_config_reader([this] { return Result<Config>(config_); });
  ASSERT_TRUE(reconciler_->api().reload());
  EXPECT_TRUE(until([&] { return measured().used == 30 * kMib; }));
}

TEST_F(Metering, WhatIsNotMeasuredAnyMoreIsNotTold) {
  begin();
  uses(65 * kMib);
  ASSERT_TRUE(until([&] { return exceeded(); }));
  config_.measure_interval.reset();
  reconciler_->api().set_config_reader([this] { return Result<Config>(config_); });
  ASSERT_TRUE(reconciler_->api().reload());
  EXPECT_TRUE(until([&] { return !exceeded(); }));
  EXPECT_EQ(measured(), OverheadMeasured{});
  config_.measure_interval = milliseconds(1);
  ASSERT_TRUE(reconciler_->api().reload());
  EXPECT_TRUE(until([&] { return measured().peak == 65 * kMib && exceeded(); }));
}

TEST_F(Metering, AReloadEndsTheRoundsOfBefore) {
  begin();
  uses(30 * kMib);
  ASSERT_TRUE(until([&] { return measured().used == 30 * kMib; }));
  config_.measure_interval = hours(24);
  reconciler_->api().set_config_reader([this] { return Result<Config>(config_); });
  ASSERT_TRUE(reconciler_->api().reload());
  run();
  uses(20 * kMib);
  for (int i = 0; i < 100 && ::sd_event_run(loop_->get(), 50'000) > 0; ++i) continue;
  EXPECT_EQ(measured().used, 30 * kMib) << "the next round is due in a day";
}

TEST_F(Metering, WhatHasNoVmAnyMoreIsNotMeasured) {
  begin();
  uses(30 * kMib);
  ASSERT_TRUE(until([&] { return measured().used.has_value(); }));
  proc_.exit_process(vmm_);
  reconciler_->hint({HintKind::process_end, "x", vmm_});
  EXPECT_TRUE(until([&] { return measured() == OverheadMeasured{}; }));
}

/// What has been measured of those that have ended.
class Surveys : public Metering {
 protected:
  [[nodiscard]] std::filesystem::path file() { return state_directory() + "/" + kSurveyFile; }
  [[nodiscard]] std::vector<OverheadAdvice> advice() {
    const auto document = reconciler_->api().recommend_json("");
    return parse_advice_document(document.value_or("")).value_or(std::vector<OverheadAdvice>());
  }
  [[nodiscard]] std::uint64_t counted() {
    return advice().empty() ? 0 : advice().front().all.sandboxes;
  }
  void measure(std::uint64_t overhead) {
    begin();
    uses(overhead);
    ASSERT_TRUE(until([&] { return measured().used == overhead; }));
  }
  void end() {
    for (const auto pid : {vmm_, shim_}) proc_.exit_process(pid);
    ASSERT_TRUE(reconciler_->api().unregister_sandbox("x"));
    run();
    ASSERT_TRUE(reconciler_->api().list(false).empty());
  }
};

TEST_F(Surveys, CountWhoLivesAndWhoHasEndedOnce) {
  measure(30 * kMib);
  ASSERT_EQ(counted(), 1U);
  EXPECT_EQ(advice().front().all.largest, 30 * kMib);
  EXPECT_EQ(advice().front().all.declared_most, 64 * kMib);
  end();
  EXPECT_EQ(counted(), 1U);
}

TEST_F(Surveys, AreKeptOverARestart) {
  measure(30 * kMib);
  end();
  reconciler_.reset();
  EXPECT_TRUE(std::filesystem::exists(file())) << "though the daemon ended at once";
  start();
  run();
  EXPECT_EQ(counted(), 1U);
  reconciler_.reset();
  std::filesystem::remove_all(file());
  start();
  run();
  EXPECT_EQ(counted(), 0U) << "it was the file that told";
}

TEST_F(Surveys, CountWhoEndedWhileNoDaemonLooked) {
  measure(30 * kMib);
  reconciler_.reset();
  for (const auto pid : {vmm_, shim_}) proc_.exit_process(pid);
  ASSERT_TRUE(store_.remove(SandboxId::parse("x").value()));
  start();
  run();
  EXPECT_EQ(counted(), 1U);
  reconciler_.reset();
  start();
  run();
  EXPECT_EQ(counted(), 1U) << "and not again with the next start";
}

TEST_F(Surveys, WhatIsNoneIsSetAsideAndStopsNobody) {
  std::ofstream(file()) << "{";
  measure(30 * kMib);
  EXPECT_TRUE(std::filesystem::exists(file().string() + ".unknown"));
  end();
  reconciler_.reset();
  EXPECT_TRUE(std::filesystem::exists(file()));
}

TEST_F(Surveys, ThatNothingCanBeWrittenStopsNobody) {
  std::filesystem::remove_all(state_directory());
  measure(30 * kMib);
  end();
  EXPECT_EQ(counted(), 1U);
  reconciler_.reset();
}

}  // namespace
}  // namespace kcg::test
