// SPDX-License-Identifier: Apache-2.0
//
// Bundles and Kata's state in directories of their own.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "observe/bundle_dirs.hpp"
#include "observe/inputs.hpp"
#include "support/fake_clock.hpp"

namespace kcg {

namespace fs = std::filesystem;

inline SandboxId id_of(const std::string& text) { return SandboxId::parse(text).value(); }

inline std::string sandbox_json(const std::string& id, const std::string& pod = "/kubepods/podU") {
  return fmt::format(R"({{"annotations": {{"io.kubernetes.cri.container-type": "sandbox",
      "io.kubernetes.cri.sandbox-id": "{}"}}, "linux": {{"cgroupsPath": "{}/{}"}}}})",
                     id, pod, id);
}

inline std::string container_json(const std::string& id, const std::string& sandbox,
                                  const std::string& pod = "/kubepods/podU") {
  return fmt::format(R"({{"annotations": {{"io.kubernetes.cri.container-type": "container",
      "io.kubernetes.cri.sandbox-id": "{}"}}, "linux": {{"cgroupsPath": "{}/{}"}}}})",
                     sandbox, pod, id);
}

class Inputs : public testing::Test {
 protected:
  Inputs() {
    std::string pattern = testing::TempDir() + "inputs-XXXXXX";
    if (::mkdtemp(pattern.data()) != nullptr) root_ = pattern;
    config_.discovery.containerd_state = root_ / "containerd";
    config_.discovery.crio_root = root_ / "crio";
    config_.discovery.kata_state = {root_ / "vc"};
    store_.emplace(config_, clock_);
  }
  ~Inputs() override { fs::remove_all(root_); }

  [[nodiscard]] fs::path bundle_dir(const std::string& id, const std::string& ns = "k8s.io") const {
    return root_ / "containerd" / "io.containerd.runtime.v2.task" / ns / id;
  }
  static void put(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  InputChange tell(const std::string& id, const std::string& ns = "k8s.io") {
    return store_->bundle_changed(bundle_origin(config_.discovery, bundle_dir(id, ns)).value());
  }
  InputChange add(const std::string& id, const std::string& json,
                  const std::string& ns = "k8s.io") {
    put(bundle_dir(id, ns) / "config.json", json);
    return tell(id, ns);
  }
  [[nodiscard]] std::vector<ConditionName> conditions(const std::string& id) const {
    std::vector<ConditionName> names;
    for (const auto& one : store_->inputs(id_of(id)).conditions) names.push_back(one.condition);
    return names;
  }
  using Ids = std::set<SandboxId>;
  using Names = std::vector<ConditionName>;

  /// All that is to be read again by itself is read, until it is to be told.
  void wait_until_told() {
    while (const auto at = store_->read_at()) {
      ASSERT_GT(*at, clock_.now()) << "a loop without a pause";
      clock_.advance(*at - clock_.now());
      (void)store_->read_again();
    }
  }

  fs::path root_;
  Config config_;
  test::FakeClock clock_;
  std::optional<InputStore> store_;
};

}  // namespace kcg
