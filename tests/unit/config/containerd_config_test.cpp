// SPDX-License-Identifier: Apache-2.0
#include "config/containerd_config.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

constexpr const char* kVersion2 = R"(version = 2
imports = ["/etc/containerd/conf.d/*.toml"]
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
pod_annotations = ["io.katacontainers.*"]
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.kata-qemu]
runtime_type = "io.containerd.kata-qemu.v2"
pod_annotations = ["io.katacontainers.*"]
)";
constexpr const char* kVersion3 = R"(version = 3
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.kata]
runtime_type = "io.containerd.kata.v2"
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.kata.options]
ConfigPath = "/opt/kata/configuration-qemu.toml"
pod_annotations = ["io.katacontainers.*"]
)";

TEST(ContainerdConfig, OnlyKatasRuntimesCount) {
  const auto words = parse_containerd_config(kVersion2);
  EXPECT_EQ(words.imports, std::vector<std::string>{"/etc/containerd/conf.d/*.toml"});
  ASSERT_EQ(words.kata.size(), 1U);
  EXPECT_EQ(words.kata[0], (ContainerdRuntime{"kata-qemu", {"io.katacontainers.*"}, 8}));
}

TEST(ContainerdConfig, NothingIsHandedOnUnlessItIsListed) {
  const auto words = parse_containerd_config(kVersion3);
  ASSERT_EQ(words.kata.size(), 1U);
  EXPECT_EQ(words.kata[0], (ContainerdRuntime{"kata", {}, 0, "/opt/kata/configuration-qemu.toml"}));
}

TEST(ContainerdConfig, WhatIsNoConfigurationSaysNothing) {
  for (const auto* text : {"", "[plugins", "imports = 3", "plugins = []"}) {
    EXPECT_TRUE(parse_containerd_config(text).kata.empty()) << text;
    EXPECT_TRUE(parse_containerd_config(text).imports.empty()) << text;
  }
}

}  // namespace
}  // namespace kcg
