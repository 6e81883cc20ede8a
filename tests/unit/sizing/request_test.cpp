// SPDX-License-Identifier: Apache-2.0
#include "sizing/request.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

TEST(SizingRequest, QemuSaysHowMuchMemoryItBootsWith) {
  using Args = std::vector<std::string>;
  constexpr std::uint64_t kMib = 1024 * 1024;
  const struct {
    const char* name;
    Args args;
    std::optional<std::uint64_t> bytes;
  } rows[] = {
      {"plain", {"qemu", "-m", "2048"}, 2048 * kMib},
      {"M", {"qemu", "-m", "2048M", "-smp", "1"}, 2048 * kMib},
      {"as Kata writes it", {"qemu", "-m", "256M,slots=10,maxmem=25129M"}, 256 * kMib},
      {"G", {"qemu", "-m", "2G"}, 2048 * kMib},
      {"lower case", {"qemu", "-m", "2g"}, 2048 * kMib},
      {"k", {"qemu", "-m", "1024k"}, kMib},
      {"bytes", {"qemu", "-m", "1048576B"}, kMib},
      {"T", {"qemu", "-m", "1T"}, 1024 * 1024 * kMib},
      {"size=", {"qemu", "-m", "size=2G,slots=10,maxmem=8G"}, 2048 * kMib},
      {"size= later", {"qemu", "-m", "slots=10,size=512M,maxmem=8G"}, 512 * kMib},
      {"two dashes", {"qemu", "--m", "512"}, 512 * kMib},
      {"the last one counts", {"qemu", "-m", "512", "-m", "1G"}, 1024 * kMib},
      {"none", {"qemu", "-smp", "1"}, std::nullopt},
      {"without a value", {"qemu", "-m"}, std::nullopt},
      {"empty", {"qemu", "-m", ""}, std::nullopt},
      {"nothing", {"qemu", "-m", "0"}, std::nullopt},
      {"a unit alone", {"qemu", "-m", "M"}, std::nullopt},
      {"negative", {"qemu", "-m", "-5"}, std::nullopt},
      {"a fraction", {"qemu", "-m", "1.5G"}, std::nullopt},
      {"slots alone", {"qemu", "-m", "slots=10"}, std::nullopt},
      {"more than the kernel can limit", {"qemu", "-m", "9000000T"}, std::nullopt},
      {"more than 64 bits", {"qemu", "-m", "99999999999999999999"}, std::nullopt},
      {"no arguments", {}, std::nullopt},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(qemu_memory(row.args), row.bytes);
  }
}

TEST(SizingRequest, TheSmallestLimitFromTheGroupUpwardsIsItsCeiling) {
  const auto path = [](const char* text) { return CgroupPath::parse(text).value(); };
  const auto ceiling = [&](std::map<std::string, std::string> limits, const char* file) {
    Observed observed;
    const bool v2 = std::string_view(file) == "memory.max";
    Hierarchy hierarchy;
    hierarchy.name = v2 ? "v2" : "memory";
    hierarchy.unified = v2;
    hierarchy.controllers = {"memory"};
    observed.host.hierarchies = {hierarchy};
    for (const auto& [group, limit] : limits)
      observed.groups[{hierarchy.name, path(group.c_str())}].files[file] = limit;
    return memory_ceiling(observed, path("/pods/pod1/x"));
  };
  const auto* v2 = "memory.max";
  const auto* v1 = "memory.limit_in_bytes";
  EXPECT_EQ(ceiling({}, v2), std::nullopt);
  EXPECT_EQ(ceiling({{"/pods/pod1/x", "max"}, {"/pods", "max"}}, v2), std::nullopt);
  EXPECT_EQ(ceiling({{"/pods/pod1", "9223372036854771712"}}, v1), std::nullopt);
  EXPECT_EQ(ceiling({{"/pods/pod1/x", "7"}, {"/pods/pod1", "9"}}, v2),
            (MemoryCeiling{7, "/pods/pod1/x"}));
  EXPECT_EQ(ceiling({{"/pods/pod1/x", "7"}, {"/pods/pod1", "5"}, {"/pods", "6"}}, v1),
            (MemoryCeiling{5, "/pods/pod1"}));
}

TEST(SizingRequest, TheSmallestQuotaAboveBoundsOursOnV1) {
  const auto path = [](const char* text) { return CgroupPath::parse(text).value(); };
  Observed observed;
  observed.host.hierarchies = {{"memory", {"memory"}, false, ""}, {"cpu", {"cpu"}, false, ""}};
  const auto limit = [&](const char* group, const char* quota, const char* period) {
    auto& files = observed.groups[{"cpu", path(group)}].files;
    files["cpu.cfs_quota_us"] = quota;
    files["cpu.cfs_period_us"] = period;
  };
  limit("/pods/pod1/x", "1000", "100000");  // our own
  limit("/pods/pod1", "-1", "100000");
  limit("/pods", "100000", "50000");
  limit("/", "300000", "100000");
  const auto parent = sizing_request(observed, Layout::sandbox_only, path("/pods/pod1/x")).parent;
  EXPECT_EQ(parent.smallest_quota_us, 200'000U);
  EXPECT_EQ(parent.smallest_quota_group, "/pods");
  EXPECT_EQ(parent.pod_group, "/pods/pod1");
}

}  // namespace
}  // namespace kcg
