// SPDX-License-Identifier: Apache-2.0
#include "model/bundle.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

TEST(SandboxInputs, TheRegistrationsPathCounts) {
  SandboxInputs inputs;
  EXPECT_EQ(inputs.cgroups_path(), std::nullopt);
  inputs.bundle = Bundle{};
  inputs.bundle->cgroups_path = "/bundle";
  EXPECT_EQ(inputs.cgroups_path(), "/bundle");
  inputs.registration = Registration{};
  EXPECT_EQ(inputs.cgroups_path(), "/bundle") << "a registration need not name one";
  inputs.registration->cgroups_path = "/registered";
  EXPECT_EQ(inputs.cgroups_path(), "/registered");
}

TEST(SandboxInputs, PodLess) {
  SandboxInputs inputs;
  EXPECT_TRUE(inputs.pod_less());
  inputs.bundle = Bundle{};
  EXPECT_TRUE(inputs.pod_less());
  inputs.bundle->type = BundleType::sandbox;
  EXPECT_FALSE(inputs.pod_less());
  inputs.bundle.reset();
  inputs.registration = Registration{};
  EXPECT_TRUE(inputs.pod_less());
  inputs.registration->pod.uid = "6f9c";
  EXPECT_FALSE(inputs.pod_less());
}

}  // namespace
}  // namespace kcg
