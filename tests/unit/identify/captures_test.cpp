// SPDX-License-Identifier: Apache-2.0
//
// Real nodes: processes, threads, KVM's word and groups as a Kata shim left them (cgroup v1 and v2,
// both drivers, both layouts). Every process must get its role, every thread its class, every
// group its maker.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "identify/classify.hpp"
#include "identify/prove.hpp"

namespace kcg {
namespace {

/// What newer versions of the library do not compare with a text by themselves.
std::string text(const nlohmann::json& json) { return json.get<std::string>(); }

using nlohmann::json;

class Captures : public testing::TestWithParam<const char*> {
 protected:
  Captures() {
    std::ifstream file(std::string(KCG_TEST_DATA "/captures/") + GetParam() + ".json");
    capture_ = json::parse(file);
  }

  /// All processes of the node, as candidates for any of its sandboxes.
  [[nodiscard]] std::vector<ProcFacts> candidates() const {
    std::vector<ProcFacts> out;
    for (const auto& process : capture_.at("processes")) {
      ProcFacts facts;
      facts.key.pid = process.at("pid");
      facts.key.start = process.at("pid");
      facts.ppid = process.at("ppid");
      facts.exe = process.at("exe");
      facts.args = process.at("args").get<std::vector<std::string>>();
      facts.same_pid_ns = facts.same_user_ns = facts.same_root = true;
      if (const auto id = shim_sandbox_id(facts))
        facts.cwd = capture_.at("sandboxes").at(*id).get<std::string>();
      out.push_back(facts);
    }
    return out;
  }

  [[nodiscard]] std::vector<Process> proven(const std::string& sandbox) const {
    SandboxInputs inputs;
    inputs.id = SandboxId::parse(sandbox).value();
    inputs.bundle = Bundle();
    inputs.bundle->id = sandbox;
    inputs.bundle->directory = capture_.at("sandboxes").at(sandbox).get<std::string>();
    return prove(inputs, candidates());
  }

  [[nodiscard]] const json& process(Pid pid) const {
    const auto& all = capture_.at("processes");
    return *std::find_if(all.begin(), all.end(),
                         [pid](const json& p) { return p.at("pid") == pid; });
  }

  json capture_;
};

TEST_P(Captures, EveryProcessHasItsSandboxAndRole) {
  std::size_t found = 0;
  for (const auto& [sandbox, bundle] : capture_.at("sandboxes").items()) {
    for (const auto& one : proven(sandbox)) {
      const auto& wanted = process(one.facts.key.pid);
      EXPECT_EQ(text(wanted.at("sandbox")), sandbox) << one.facts.key.pid;
      EXPECT_EQ(text(wanted.at("role")), name(one.role)) << one.facts.key.pid;
      EXPECT_EQ(one.hypervisor,
                one.role == ProcessRole::vmm ? Hypervisor::qemu : Hypervisor::unknown);
      ++found;
    }
  }
  EXPECT_EQ(found, capture_.at("processes").size());
}

TEST_P(Captures, EveryThreadHasItsClass) {
  for (const auto& [sandbox, bundle] : capture_.at("sandboxes").items()) {
    for (const auto& one : proven(sandbox)) {
      const auto& wanted = process(one.facts.key.pid).at("threads");
      KvmVcpus kvm;
      const auto entry = capture_.at("kvm").find(std::to_string(one.facts.key.pid));
      if (entry != capture_.at("kvm").end())
        for (const auto& [vcpu, tid] : entry->items())
          kvm.tid_of[static_cast<std::uint32_t>(std::stoul(vcpu))] = tid.get<Pid>();
      std::vector<ThreadFacts> threads;
      for (const auto& thread : wanted) {
        threads.emplace_back().key.pid = thread.at(0);
        threads.back().comm = thread.at(1);
      }
      const auto classified = classify(one.role, one.hypervisor, threads, kvm);
      ASSERT_EQ(classified.size(), wanted.size());
      for (std::size_t i = 0; i < wanted.size(); ++i)
        EXPECT_EQ(name(classified[i].cls), text(wanted[i].at(2))) << wanted[i].dump();
      if (one.role == ProcessRole::vmm) {
        EXPECT_FALSE(kvm.tid_of.empty());
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Nodes, Captures,
                         testing::Values("v1-false", "v1-true", "v2-cgroupfs-false",
                                         "v2-cgroupfs-true", "v2-systemd-false", "v2-systemd-true"),
                         [](const testing::TestParamInfo<const char*>& param) {
                           std::string text = param.param;
                           std::replace(text.begin(), text.end(), '-', '_');
                           return text;
                         });

}  // namespace
}  // namespace kcg
