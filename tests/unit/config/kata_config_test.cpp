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
    EXPECT_EQ(kata_sandbox_cgroup_only(row.text), row.word);
  }
}

}  // namespace
}  // namespace kcg
