// SPDX-License-Identifier: Apache-2.0
//
// A reconciler in a loop of its own, on trees and processes that a test makes.
#pragma once

#include <gtest/gtest.h>
#include <systemd/sd-event.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "daemon/reconciler.hpp"
#include "support/fake_proc.hpp"
#include "support/fake_tree.hpp"

namespace kcg::test {

/// Hears what is published.
class Listener final : public Publisher {
 public:
  void added(const SandboxView& view) override { heard += "+" + view.id + " "; }
  void removed(const std::string& id) override { heard += "-" + id + " "; }
  void happened(const SandboxHistory& one) override {
    happenings.push_back(std::string(name(one.events.back().kind)) + " " + one.id);
  }
  void problems_changed() override {}
  void changed(const SandboxView&, const SandboxView& after) override {
    heard += "~" + after.id + " ";
  }
  std::string heard;
  std::vector<std::string> happenings;
};

class Reconciling : public ::testing::Test {
 protected:
  Reconciling()
      : loop_(Loop::create().value()),
        store_(StateStore::open(directory(), state_directory()).value()) {
    config_.reconcile_interval = std::chrono::hours(24);
    config_.discovery.containerd_state = directory() + "/containerd";
    config_.discovery.crio_root = directory() + "/crio";
    config_.discovery.kata_state = {directory() + "/vc"};
    config_.discovery.kata_config = {};
  }
  ~Reconciling() override { std::filesystem::remove_all(directory()); }

  std::string directory() {
    if (directory_.empty()) {
      std::string pattern = ::testing::TempDir() + "reconcilerXXXXXX";
      directory_ = ::mkdtemp(pattern.data());
    }
    return directory_;
  }
  std::string state_directory() { return directory() + "/state"; }
  void start() {
    reconciler_ = std::make_unique<Reconciler>(
        *loop_, World{tree_, proc_, clock_, systemd_, store_, log_}, config_);
    reconciler_->set_publisher(&listener_);
    reconciler_->start();
  }
  /// Until nothing is due.
  void run() {
    while (::sd_event_run(loop_->get(), 0) > 0) continue;
  }
  std::string heard() { return std::exchange(listener_.heard, ""); }
  static Registration registration() {
    Registration registration;
    registration.cgroups_path = "/kubepods/pod1/x";
    return registration;
  }
  /// A VMM that runs where nobody has placed it.
  Pid found_vmm() {
    tree_.make_all(tree_.host().hierarchies.front().name.str(), "/kubepods/pod1/x");
    config_.placement.existing = ExistingPolicy::place;
    return proc_.start(1, {"qemu-system-x86", "/usr/bin/qemu-system-x86_64", {}});
  }
  /// Starts the daemon, which places it as the sandbox "x".
  void place(Pid vmm) {
    start();
    run();
    auto registered = registration();
    registered.vmm = proc_.key(vmm);
    ASSERT_TRUE(reconciler_->api().register_sandbox("x", registered));
    run();
  }
  std::function<void(Result<std::uint32_t>)> answer() {
    return [this](const Result<std::uint32_t>& result) {
      answers_.push_back(result ? std::to_string(*result) : result.error().text);
    };
  }

  std::string directory_;
  SystemClock clock_;
  Log log_{clock_, LogLevel::error};
  std::unique_ptr<Loop> loop_;
  StateStore store_;
  Config config_;
  FakeTree tree_{fake_host_v2()};
  FakeProc proc_{tree_};
  SystemdManager* systemd_ = nullptr;
  Listener listener_;
  std::unique_ptr<Reconciler> reconciler_;
  std::vector<std::string> answers_;
};

}  // namespace kcg::test
