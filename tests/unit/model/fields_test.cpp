// SPDX-License-Identifier: Apache-2.0
#include "model/fields.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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

TEST(Packed, TakesAnyNumber) {
  for (const auto edge : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{63}, std::int64_t{64},
                          std::int64_t{-64}, std::int64_t{-65}, INT64_MIN, INT64_MAX}) {
    const std::vector<std::int64_t> some = {edge, 7, edge};
    EXPECT_EQ(Packed(some).whole(), some);
    const std::vector<std::uint64_t> others = {static_cast<std::uint64_t>(edge), 7};
    EXPECT_EQ(Packed(others).whole(), others);
  }
  EXPECT_EQ(Packed(std::vector<int>{-64, 63}).size(), 3U) << "near 0 they take a byte";
}

/// Of the texts before, those that are kept are a bounded number, and short ones none of them.
TEST(Packed, ATextIsSaidOnce) {
  using Texts = std::vector<std::string>;
  const std::string path(100, 'p');
  const auto alone = Packed(Texts{path}).size();
  EXPECT_EQ(Packed(Texts{path, path}).size(), alone + 3);
  EXPECT_EQ(Packed(Texts{path, path + "/below", path + "/beside"}).size(), alone + 10 + 6);
  EXPECT_EQ(Packed(Texts{"abc", "abc"}).size(), 9U);
  for (const std::size_t between : {62U, 63U, 64U, 65U}) {
    Texts texts = {path};
    for (std::size_t i = 0; i < between; ++i) texts.push_back(std::to_string(1000 + i));
    texts.push_back(path);
    EXPECT_EQ(Packed(texts).whole(), texts);
    const auto without = Packed(Texts(texts.begin(), texts.end() - 1)).size();
    EXPECT_EQ(Packed(texts).size() - without < 10, between < 64) << between;
  }
}

/// Of two that begin like a text as far, the last one; of others the one that does for longer.
TEST(Packed, ATextGoesOnAfterWhatItIsMostLike) {
  const std::vector<std::string> texts = {
      "/kubepods/pod1", "/kubepods/pod2", "/kubepods/pod1/x", "/kubepods/pod2/y", "/k", "",
      "/kubepods/pod1"};
  EXPECT_EQ(Packed(texts).whole(), texts);
  EXPECT_LE(Packed(texts).size(), 1 + 15 + 4 + 5 + 5 + 3 + 1 + 3U);
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

TEST(Packed, AHistoryIsGivenBackAsItWas) {
  const SandboxEvent event{EventKind::repaired, "cpu.max", "/pod1/s", "1", "2", "why",
                           Severity::warning,   3,         4,         5};
  const SandboxHistory history{"s", "ns", "pod", Engine::crio,  "/pod1", "/pod1/s", 1, 2, "kata", 3,
                               4,   5,    6,     {event, event}};
  EXPECT_EQ(Packed(history).whole(), history);
  EXPECT_EQ(Packed(SandboxHistory()).whole(), SandboxHistory());
}

TEST(Packed, PlacesAndGroupsAreGivenBackAsTheyWere) {
  const auto path = [](const char* text) { return CgroupPath::parse(text).value(); };
  const Place place{Layout::legacy,
                    LayoutSource::annotation,
                    Driver::systemd,
                    path("/pod1"),
                    path("/pod1/s"),
                    CgroupPath(),
                    {1, 2, OverheadSource::annotation}};
  EXPECT_EQ(Packed(place).whole(), place);
  const FlatSet<GroupRef> groups = {{"cpu,cpuacct", path("/pod1/s")},
                                    {"memory", path("/pod1/s")},
                                    {"v2", path("/pod1/s/vcpu")},
                                    {"", CgroupPath()}};
  EXPECT_EQ(Packed(groups).whole(), groups);
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
