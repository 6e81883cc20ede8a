// SPDX-License-Identifier: Apache-2.0
//
// Device rules on cgroup v2: what Kata's own group forbids stays forbidden in ours, from the first
// move on. A real QEMU is asked to open the device.
#include "support/device_program.hpp"
#include "support/live/fixture.hpp"
#include "support/live/kernel.hpp"
#include "support/live/wait.hpp"

namespace kcg::live {
namespace {

using Ids = std::vector<std::uint32_t>;

/// /dev/random and /dev/urandom.
constexpr std::uint32_t kMemory = 1, kRandom = 8, kUrandom = 9;

class LiveDevices : public LiveTest {
 protected:
  [[nodiscard]] std::string ours(const Sandbox& sandbox) const {
    return node_->corner().directory(sandbox.group());
  }
  /// Kata attaches its rules when it makes its group, before anything moves there.
  [[nodiscard]] std::string make_kata_group(const Sandbox& sandbox) const {
    node_->corner().make(sandbox.kata_group());
    return node_->corner().directory(sandbox.kata_group());
  }
  /// "" or why QEMU could not open it.
  [[nodiscard]] static std::string open_error(const Sandbox& sandbox, const std::string& device) {
    try {
      (void)sandbox.ask("open-device " + device);  // ignored: nothing is said but "ok"
    } catch (const std::exception& refused) {
      return refused.what();
    }
    return "";
  }
};

TEST_P(LiveDevices, WhatKataForbidsStaysForbidden) {
  start_daemon();
  const auto sandbox = node_->sandbox({.vcpus = 2});
  const auto kata = make_kata_group(*sandbox);
  const auto first = test::load_device_program(kMemory, kRandom);
  const auto second = test::load_device_program(kMemory, 250);
  ASSERT_EQ(test::attach_device_program(kata, first), 0);
  ASSERT_EQ(test::attach_device_program(kata, second), 0);
  sandbox->start();
  ASSERT_EQ(settle(*sandbox), "");
  EXPECT_EQ(test::attached_device_programs(ours(*sandbox)),
            (Ids{test::program_id(first), test::program_id(second)}));
  EXPECT_NE(open_error(*sandbox, "/dev/random").find("Operation not permitted"), std::string::npos)
      << open_error(*sandbox, "/dev/random");
  EXPECT_EQ(open_error(*sandbox, "/dev/urandom"), "");
  EXPECT_EQ(daemon_->complaints(), "");
}

TEST_P(LiveDevices, LaterRulesFollow) {
  start_daemon();
  const auto sandbox = node_->sandbox();
  const auto kata = make_kata_group(*sandbox);
  const auto first = test::load_device_program(kMemory, kRandom);
  ASSERT_EQ(test::attach_device_program(kata, first), 0);
  sandbox->start();
  ASSERT_EQ(settle(*sandbox), "");
  EXPECT_EQ(open_error(*sandbox, "/dev/urandom"), "");
  const auto second = test::load_device_program(kMemory, kUrandom);
  ASSERT_EQ(test::attach_device_program(kata, second), 0);
  sandbox->ask("pullback-vmm");  // Kata's update: the kernel tells nobody of a new program
  EXPECT_TRUE(wait_until([&] {
    return test::attached_device_programs(ours(*sandbox)) ==
           Ids{test::program_id(first), test::program_id(second)};
  }));
  ASSERT_EQ(settle(*sandbox), "");
  EXPECT_NE(open_error(*sandbox, "/dev/urandom"), "");
}

TEST_P(LiveDevices, WithoutTheRightToAttachNothingIsMoved) {
  // Without the first it may not even mark its group, without all three not see any program.
  const std::pair<const char*, const char*> rows[] = {
      {"-sys_admin", "WriteFailed: mark "},
      {"-sys_admin,-net_admin,-bpf", "DevicePolicyNotCarried: "}};
  for (const auto& [drop, complaint] : rows) {
    SCOPED_TRACE(drop);
    const auto sandbox = node_->sandbox();
    const auto kata = make_kata_group(*sandbox);
    const auto program = test::load_device_program(kMemory, kRandom);
    ASSERT_EQ(test::attach_device_program(kata, program), 0);
    start_daemon({.wrapper = {"/usr/bin/setpriv", fmt::format("--bounding-set={}", drop)}});
    sandbox->start();
    const auto truth = sandbox->truth();
    ASSERT_TRUE(wait_until([&, said = complaint] {
      return daemon_->log().find(said) != std::string::npos;
    })) << daemon_->log();
    for (const auto& thread : threads_of(truth.vmm))
      EXPECT_EQ(thread.groups.at(""), sandbox->kata_group());
    EXPECT_NE(open_error(*sandbox, "/dev/random"), "");
    daemon_.reset();
  }
}

KCG_ON_TREE(LiveDevices, v2);

}  // namespace
}  // namespace kcg::live
