// SPDX-License-Identifier: Apache-2.0
#include "config/crio_config.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

constexpr const char* kDropIn = R"([crio.runtime]
cgroup_manager = "cgroupfs"
[crio.runtime.runtimes.crun]
runtime_path = "/usr/bin/crun"
runtime_config_path = "/etc/crun.toml"
[crio.runtime.runtimes.kata-qemu]
runtime_path = "/usr/local/bin/containerd-shim-kata-qemu-v2"
runtime_type = "vm"
runtime_root = "/run/vc"
runtime_config_path = "/opt/kata/share/defaults/kata-containers/configuration-qemu.toml"
privileged_without_host_devices = true
[crio.runtime.runtimes.kata]
runtime_path = "/usr/bin/containerd-shim-kata-v2"
)";

TEST(CrioConfig, OnlyKatasRuntimesCount) {
  const auto words = parse_crio_config(kDropIn);
  EXPECT_EQ(words.cgroup_manager, "cgroupfs");
  EXPECT_EQ(
      words.kata,
      (std::vector<CrioRuntime>{
          {"kata", ""},
          {"kata-qemu", "/opt/kata/share/defaults/kata-containers/configuration-qemu.toml"}}));
}

TEST(CrioConfig, WhatIsNoConfigurationSaysNothing) {
  for (const auto* text : {"", "[crio", "crio = []", "[crio.runtime]\ncgroup_manager = 3",
                           "[crio.runtime.runtimes.kata]\nruntime_path = [\"kata\"]"}) {
    EXPECT_TRUE(parse_crio_config(text).kata.empty()) << text;
    EXPECT_EQ(parse_crio_config(text).cgroup_manager, "") << text;
  }
}

}  // namespace
}  // namespace kcg
