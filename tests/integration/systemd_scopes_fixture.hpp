// SPDX-License-Identifier: Apache-2.0
//
// Our client and a stand-in for systemd on a private bus, in one thread.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>

#include "daemon/systemd/scopes.hpp"
#include "integration/private_bus.hpp"
#include "integration/stub_systemd.hpp"
#include "proc/kernel_proc.hpp"

namespace kcg::integration {

using Calls = std::vector<std::string>;

inline constexpr const char* kUnit = "kata-sandbox-s.scope";
inline constexpr const char* kSlice = "kubepods-podx.slice";
inline constexpr const char* kNewSystemd = "257.13-1~deb13u1";
inline constexpr const char* kOldSystemd = "252.39-1~deb12u2";

class SystemdScopesTest : public testing::Test {
 protected:
  void SetUp() override {
    auto loop = Loop::create();
    ASSERT_TRUE(loop);
    loop_ = std::move(*loop);
    auto proc = KernelProc::open();
    ASSERT_TRUE(proc);
    proc_ = std::move(*proc);
  }
  void TearDown() override {
    scopes_.reset();
    stub_.reset();
  }

  void serve(const char* version = kNewSystemd) {
    stub_ = std::make_unique<StubSystemd>(loop_->get(), bus_.address(), version);
  }
  void reach(std::chrono::microseconds patience = std::chrono::seconds(20)) {
    scopes_ = std::make_unique<SystemdScopes>(
        *loop_, *proc_, bus_.address(),
        [this](bool problem, const std::string& text) {
          log_.push_back((problem ? "problem: " : "") + text);
        },
        patience);
    scopes_->set_hint_sink([this](const Hint& hint) { hints_.push_back(hint); });
  }
  /// Everything is in its place and has been greeted.
  void greet(const char* version = kNewSystemd) {
    serve(version);
    reach();
    ASSERT_TRUE(until([&] { return stub_->count("Get ") == 1; }));
  }

  /// Turns the loop until something is so; false: it never was.
  [[nodiscard]] bool until(const std::function<bool()>& so) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!so()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      if (sd_event_run(loop_->get(), 100'000) < 0) return false;
    }
    return true;
  }
  [[nodiscard]] TaskKey key(const Server& process) {
    return proc_->stat(process.pid()).value().key;
  }
  [[nodiscard]] ScopeRequest request(std::vector<WantedFile> limits = {}) {
    return {kUnit, kSlice, key(vmm_), std::move(limits)};
  }
  /// Asks for the scope and waits until the stand-in has the call.
  void ask() {
    ASSERT_TRUE(scopes_->start_scope(request()));
    ASSERT_TRUE(until([&] { return stub_->waiting() == 1; }));
  }
  [[nodiscard]] std::string start_call(const std::string& member, const std::string& limits = "") {
    return "StartTransientUnit 'kata-sandbox-s.scope' 'fail' "
           "[('Description' <s 'Kata Containers sandbox, placed by kata-cgroupd'>) "
           "('Slice' <s 'kubepods-podx.slice'>) ('Delegate' <b true>) "
           "('DefaultDependencies' <b false>) ('CollectMode' <s 'inactive-or-failed'>) "
           "('TasksMax' <t 18446744073709551615>) " +
           member + limits + "] []";
  }
  [[nodiscard]] static Hint job_hint(const std::string& problem = "") {
    return {HintKind::job, kUnit, 0, problem};
  }
  [[nodiscard]] bool told() {
    return until([&] { return !hints_.empty(); });
  }

  PrivateBus bus_{Policy::open};
  Server vmm_{{"sleep", "1000"}};
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<KernelProc> proc_;
  std::unique_ptr<StubSystemd> stub_;
  std::unique_ptr<SystemdScopes> scopes_;
  std::vector<Hint> hints_;
  std::vector<std::string> log_;
};

}  // namespace kcg::integration
