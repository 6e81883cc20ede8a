// SPDX-License-Identifier: Apache-2.0
#include "config/kata_config.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

TEST(KataConfig, SandboxCgroupOnly) {
  const struct {
    const char *name, *text;
    std::optional<KataConfigWord> word;
  } rows[] = {
      {"on",
       "[hypervisor.qemu]\npath = \"/q\"\ndefault_vcpus = 1.5\n[runtime]\n"
       "sandbox_cgroup_only=true\n",
       KataConfigWord{true, 5}},
      {"off", "[runtime]\nsandbox_cgroup_only = false\n", KataConfigWord{false, 2}},
      {"absent", "[runtime]\nenable_debug = true\n", std::nullopt},
      {"commented out", "[runtime]\n# sandbox_cgroup_only = true\n", std::nullopt},
      {"other section", "[agent.kata]\nsandbox_cgroup_only = true\n", std::nullopt},
      {"text", "[runtime]\nsandbox_cgroup_only = \"true\"\n", std::nullopt},
      {"not TOML", "[runtime\nsandbox_cgroup_only = true\n", std::nullopt},
      {"empty", "", std::nullopt},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(parse_kata_config(row.text).only, row.word);
  }
}

TEST(KataConfig, AnnotationsThatAreAllowed) {
  const auto words = parse_kata_config(
      "[hypervisor.qemu]\nenable_annotations = [\"enable_iommu\", \"memory_.*\"]\n"
      "[hypervisor.clh]\nenable_annotations = \"all\"\n");
  ASSERT_EQ(words.annotations.size(), 1U);
  EXPECT_EQ(words.annotations.at("qemu"), (KataAnnotationsWord{{"enable_iommu", "memory_.*"}, 2}));
  EXPECT_FALSE(words.rust);
  EXPECT_TRUE(parse_kata_config("[runtime]\nname=\"virt_container\"\n").rust);
}

TEST(KataConfig, PinningIsOffWhereATextThatCanBeReadSaysNothing) {
  const struct {
    const char *name, *text;
    std::optional<KataConfigWord> word;
  } rows[] = {
      {"on", "[runtime]\nenable_vcpus_pinning = true\n", KataConfigWord{true, 2}},
      {"off", "[runtime]\nenable_vcpus_pinning = false\n", KataConfigWord{false, 2}},
      {"absent", "[runtime]\nenable_debug = true\n", KataConfigWord{}},
      {"empty", "", KataConfigWord{}},
      {"text", "[runtime]\nenable_vcpus_pinning = \"true\"\n", std::nullopt},
      {"not TOML", "[runtime\nenable_vcpus_pinning = false\n", std::nullopt},
  };
  for (const auto& row : rows) EXPECT_EQ(parse_kata_config(row.text).pinning, row.word) << row.name;
}

TEST(KataConfig, DefaultMemoryOfEachHypervisor) {
  using Words = std::map<std::string, KataMemoryWord>;
  const struct {
    const char *name, *text;
    Words words;
  } rows[] = {
      {"one", "[hypervisor.qemu]\ndefault_memory = 512\n", {{"qemu", {512, 2}}}},
      {"two",
       "[hypervisor.clh]\ndefault_memory=1\n[hypervisor.qemu]\ndefault_memory=4294967295\n",
       {{"clh", {1, 2}}, {"qemu", {4294967295, 4}}}},
      {"commented out", "[hypervisor.qemu]\n# default_memory = 512\n", {}},
      {"0 is Kata's own default", "[hypervisor.qemu]\ndefault_memory = 0\n", {}},
      {"negative", "[hypervisor.qemu]\ndefault_memory = -1\n", {}},
      {"beyond 32 bits", "[hypervisor.qemu]\ndefault_memory = 4294967296\n", {}},
      {"text", "[hypervisor.qemu]\ndefault_memory = \"512\"\n", {}},
      {"elsewhere", "[factory.qemu]\ndefault_memory = 512\n", {}},
      {"not TOML", "[hypervisor.qemu]\ndefault_memory = 512\n[", {}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(parse_kata_config(row.text).default_memory, row.words);
  }
}

}  // namespace
}  // namespace kcg
