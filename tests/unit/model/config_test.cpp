// SPDX-License-Identifier: Apache-2.0
//
// The documented defaults; that the shipped sample says the same is tested with config/.
#include "model/config.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

TEST(Config, Defaults) {
  const Config config;
  EXPECT_EQ(config.mode, Mode::enforce);
  EXPECT_EQ(config.cgroup.hierarchy, HierarchyChoice::automatic);
  EXPECT_EQ(config.layout.sandbox_cgroup_only, std::nullopt);
  EXPECT_FALSE(config.layout.allow_annotation) << "a tenant must not escape the pod's limits";
  EXPECT_TRUE(config.placement.thread_groups);
  EXPECT_EQ(config.placement.existing, ExistingPolicy::leave);
  EXPECT_EQ(config.overhead.default_mib, 350U);
  EXPECT_EQ(config.overhead.handlers.at("kata"), (HandlerOverhead{350, 250}));
  EXPECT_EQ(config.overhead.handlers.at("kata-remote"), (HandlerOverhead{120, 250}));
  EXPECT_EQ(config.overhead.max_mib, 4096U);
  EXPECT_EQ(config.sizing.memory, MemorySizing::annotated);
  EXPECT_TRUE(config.sizing.vcpu_quota);
  EXPECT_EQ(config.reconcile_interval, std::chrono::seconds(30));
  EXPECT_EQ(config.limits.max_bundle_bytes, 4U * 1024 * 1024);
}

}  // namespace
}  // namespace kcg
