// SPDX-License-Identifier: Apache-2.0
//
// The fixture of every live test: once per tree, with the daemon's log shown on failure.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "support/live/kernel.hpp"
#include "support/live/node.hpp"
#include "support/live/placement.hpp"
#include "support/live/wait.hpp"

namespace kcg::live {

/// Resource: a node and, after start_daemon(), the daemon on it.
class LiveTest : public testing::TestWithParam<Tree> {
 protected:
  void SetUp() override {
    const auto missing = missing_for_live_tests(GetParam());
    if (!missing.empty()) GTEST_SKIP() << "needs " << missing;
    node_ = std::make_unique<Node>(GetParam());
  }
  void TearDown() override {
    if (HasFailure() && daemon_) std::fprintf(stderr, "daemon:\n%s\n", daemon_->log().c_str());
    daemon_.reset();
    node_.reset();
  }
  void start_daemon(DaemonSpec spec = {}) {
    daemon_ = node_->daemon(std::move(spec));
    daemon_->start();
  }
  /// A running sandbox that the daemon has placed.
  [[nodiscard]] std::unique_ptr<Sandbox> placed(SandboxSpec spec = {}) const {
    auto sandbox = node_->sandbox(std::move(spec));
    sandbox->start();
    EXPECT_EQ(settle(*sandbox), "");
    return sandbox;
  }
  /// The threads of a young VMM are watched for half a second: after that only what tells of one
  /// brings a look.
  static void let_it_run() {
    const auto began = std::chrono::steady_clock::now();
    EXPECT_TRUE(wait_until(
        [&] { return std::chrono::steady_clock::now() - began > std::chrono::seconds(1); }));
  }
  /// Waits until the daemon has nothing more to look at: from then on only an event wakes it.
  [[nodiscard]] bool daemon_rests() const {
    auto used = cpu_time(daemon_->pid());
    auto since = std::chrono::steady_clock::now();
    return wait_until([&] {
      const auto now = cpu_time(daemon_->pid());
      if (now != used) since = std::chrono::steady_clock::now();
      used = now;
      return std::chrono::steady_clock::now() - since > std::chrono::milliseconds(1500);
    });
  }
  [[nodiscard]] bool v1() const { return GetParam() == Tree::v1; }

  std::unique_ptr<Node> node_;
  std::unique_ptr<Daemon> daemon_;
};

inline std::string tree_name(const testing::TestParamInfo<Tree>& info) {
  return info.param == Tree::v1 ? "v1" : "v2";
}

}  // namespace kcg::live

/// Begins a test of what KVM alone tells.
#define KCG_NEEDS_KVM() \
  if (!kcg::live::kvm_works()) GTEST_SKIP() << "needs /dev/kvm"

/// Runs all tests of `suite` on both trees.
#define KCG_ON_BOTH_TREES(suite)                                                      \
  INSTANTIATE_TEST_SUITE_P(Trees, suite,                                              \
                           testing::Values(kcg::live::Tree::v1, kcg::live::Tree::v2), \
                           kcg::live::tree_name)

/// Runs all tests of `suite` on one tree: `v1` or `v2`. A test never returns early where its tree
/// cannot show what it is about: it belongs to a suite that is not run there.
#define KCG_ON_TREE(suite, tree)                                                 \
  INSTANTIATE_TEST_SUITE_P(Trees, suite, testing::Values(kcg::live::Tree::tree), \
                           kcg::live::tree_name)
