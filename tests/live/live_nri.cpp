// SPDX-License-Identifier: Apache-2.0
//
// What an engine tells through NRI becomes limits in the kernel. v1 alone: the cgroup2 tree beside
// it has neither cpu nor memory.
#include <filesystem>

#include "support/live/fixture.hpp"
#include "support/live/kernel.hpp"
#include "support/live/wait.hpp"
#include "support/nri_engine.hpp"

namespace kcg::live {
namespace {

using nri::FakeEngine;
using nri::SaidPod;

constexpr std::int64_t kMib = 1024 * 1024;
constexpr std::int64_t kBootMib = 128;  ///< of the stand-in's VMM
constexpr const char* kOverheadKey = "io.katacontainers.config.hypervisor.memory_overhead";

class LiveNri : public LiveTest {
 protected:
  void SetUp() override {
    LiveTest::SetUp();
    if (IsSkipped()) return;
    const auto directory = node_->run_root() + "/run/nri";
    std::filesystem::create_directories(directory);
    engine_ = std::make_unique<FakeEngine>(directory + "/nri.sock");
    start_daemon();
    sandbox_ = node_->sandbox();
    container(kMib * 128, 50'000);
    sandbox_->start();
    ASSERT_EQ(settle(*sandbox_), "");
    ASSERT_TRUE(quota_becomes("50000"));
  }
  void TearDown() override {
    sandbox_.reset();
    LiveTest::TearDown();
  }
  void container(std::int64_t memory, std::int64_t quota) const {
    write_bundle(node_->run_root(), {"one",
                                     sandbox_->id(),
                                     sandbox_->pod_group() + "/one",
                                     "",
                                     {},
                                     ContainerSpec{"one", "app", memory, quota}});
  }
  [[nodiscard]] SaidPod pod(std::int64_t overhead_mib) const {
    SaidPod said{sandbox_->id(), "live"};
    said.uid = "";  // the harness has its own
    said.overhead_memory = overhead_mib * kMib;
    return said;
  }
  [[nodiscard]] bool becomes(const std::string& below, const char* controller, const char* file,
                             const std::string& wanted) const {
    const auto path = node_->corner().directory(sandbox_->group() + below, controller) + "/" + file;
    return wait_until([&] { return slurp_line(path) == wanted; });
  }
  [[nodiscard]] bool quota_becomes(const std::string& wanted) const {
    return becomes("/vcpu", "cpu", "cpu.cfs_quota_us", wanted);
  }
  [[nodiscard]] bool memory_becomes(std::int64_t mib) const {
    return becomes("", "memory", "memory.limit_in_bytes", std::to_string((kBootMib + mib) * kMib));
  }

  std::unique_ptr<FakeEngine> engine_;
  std::unique_ptr<Sandbox> sandbox_;
};

TEST_P(LiveNri, TheOverheadAloneSizes) {
  engine_->greet({});
  (void)engine_->call("StateChange", nri::state_change(1, pod(160)));
  EXPECT_TRUE(memory_becomes(128 + 160));
}

TEST_P(LiveNri, TheOverheadOfAnEarlierPodIsToldWhenWeConnect) {
  engine_->greet({pod(160)}, {{sandbox_->id(), {"one", 128 * kMib, 50'000}}});
  EXPECT_TRUE(memory_becomes(128 + 160));
}

TEST_P(LiveNri, AnAnnotationNeedsNobodyToHandItOn) {
  engine_->greet({});
  auto said = pod(0);
  said.annotations = {{kOverheadKey, "200"}};
  (void)engine_->call("RunPodSandbox", nri::event_call(said));
  EXPECT_TRUE(memory_becomes(128 + 200));
}

TEST_P(LiveNri, AnUpdateArrivesBeforeKataKnows) {
  engine_->greet({pod(160)}, {{sandbox_->id(), {"one", 128 * kMib, 50'000}}});
  ASSERT_TRUE(memory_becomes(128 + 160));
  (void)engine_->call("UpdateContainer", nri::update_call(pod(160), {"one", 256 * kMib, 75'000}));
  EXPECT_TRUE(memory_becomes(256 + 160));
  EXPECT_TRUE(quota_becomes("75000"));
}

TEST_P(LiveNri, AnEngineThatRestartsTellsAllAgain) {
  engine_->greet({pod(160)}, {{sandbox_->id(), {"one", 128 * kMib, 75'000}}});
  ASSERT_TRUE(quota_becomes("75000"));
  engine_->hang_up();
  engine_->greet({pod(160)});
  EXPECT_TRUE(quota_becomes("50000")) << "what is no longer listed is forgotten";
  EXPECT_TRUE(memory_becomes(128 + 160));
}

KCG_ON_TREE(LiveNri, v1);

}  // namespace
}  // namespace kcg::live
