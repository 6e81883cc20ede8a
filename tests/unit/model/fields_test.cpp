// SPDX-License-Identifier: Apache-2.0
#include "model/fields.hpp"

#include <gtest/gtest.h>

#include <string>

namespace kcg {
namespace {

Resources resources() { return {1, -1, 100'000, 2, "0-3", "0", {{"2MB", 4096}, {"1GB", 0}}}; }

TEST(Packed, TakesAnyText) {
  SandboxView view;
  view.sandbox_cgroup = "/kubepods/pod1/kata-sandbox-1";
  GroupView odd;
  odd.path = "/kubepods/elsewhere";
  odd.hierarchies = {"", std::string("\0\n", 2)};
  odd.limits = {{"", ""}, {std::string(70'000, 'k'), std::string("\0max", 4)}};
  odd.wanted = {{"cpu.max", "max 100000"}};
  odd.memory_current = 0;
  GroupView empty;
  view.groups = {odd, empty, odd};
  EXPECT_EQ(Packed(view).whole(), view);
  view.sandbox_cgroup.clear();
  EXPECT_EQ(Packed(view).whole(), view);
}

TEST(Packed, NobodyIsNobody) {
  EXPECT_EQ(Packed<SandboxView>().whole(), SandboxView());
  EXPECT_EQ(Packed<SandboxView>().size(), 0U);
  EXPECT_EQ(Packed(SandboxView()).whole(), SandboxView());
}

TEST(Packed, BundlesAreGivenBackAsTheyWere) {
  EXPECT_EQ(Packed(Bundle()).whole(), Bundle());
  Bundle bundle;
  bundle.id = "b";
  bundle.directory = "/run/b";
  bundle.directory_id = FileId{1, 2};
  bundle.engine = Engine::crio;
  bundle.ns = "k8s.io";
  bundle.type = BundleType::container;
  bundle.sandbox_id = "s";
  bundle.container_name = "c";
  bundle.pod = {"ns", "name", "uid"};
  bundle.handler = "kata";
  bundle.cgroups_path = "/kubepods/pod1/b";
  bundle.resources = resources();
  bundle.overhead_annotation = "160";
  bundle.boot_annotation = "";
  bundle.layout_annotation = "true";
  bundle.pinning_annotation = "false";
  bundle.total_memory = 3;
  bundle.total_cpu_quota = -1;
  bundle.total_cpu_period = 4;
  bundle.total_cpu_shares = 5;
  bundle.pod_overhead_memory = 6;
  bundle.pod_overhead_cpu_milli = 7;
  bundle.shim_pid = 8;
  bundle.shim_binary = "/usr/bin/containerd-shim-kata-v2";
  bundle.complaints = {{ConditionName::bundle_unreadable, "why"}, {ConditionName::contested, ""}};
  bundle.unreadable = "because";
  bundle.ended = true;
  EXPECT_EQ(Packed(bundle).whole(), bundle);
}

TEST(Packed, KatasStateIsGivenBackAsItWas) {
  const KataState state{
      "/run/vc/sbs/s/persist.json",    "running", true, std::nullopt, "qemu", 256, 0,
      {{"s", {}}, {"c", resources()}}, {"c"}};
  EXPECT_EQ(Packed(state).whole(), state);
  EXPECT_EQ(Packed(KataState()).whole(), KataState());
}

TEST(Packed, FactsOfAProcessAreGivenBackAsTheyWere) {
  const ProcFacts facts{
      {7, 8}, 1,    "qemu", "/usr/bin/qemu", {"-name", "", "x"}, "", "/", FileId{3, 4}, 9, true,
      true,   true, true};
  EXPECT_EQ(Packed(facts).whole(), facts);
}

TEST(Packed, EqualOnesHoldEqualValues) {
  auto state = KataState();
  const Packed before(state);
  EXPECT_EQ(Packed(state), before);
  state.vcpus_pinning = false;
  EXPECT_NE(Packed(state), before);
  state.vcpus_pinning.reset();
  state.stopped = {"a"};
  EXPECT_NE(Packed(state), before);
}

}  // namespace
}  // namespace kcg
