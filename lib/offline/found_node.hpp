// SPDX-License-Identifier: Apache-2.0
//
// A whole node as somebody finds it who was not there before: what cgctl works on without a daemon
// (L8).
#pragma once

#include <map>
#include <memory>

#include "cgroup/kernel_tree.hpp"
#include "model/config.hpp"
#include "observe/inputs.hpp"
#include "pass/pass.hpp"
#include "proc/kernel_proc.hpp"

namespace kcg {

/// Resource: bundles and Kata's state were read, shims and marked groups searched. `config` must
/// outlive it.
class FoundNode final {
 public:
  [[nodiscard]] static Result<std::unique_ptr<FoundNode>> find(const Config& config);
  FoundNode(const FoundNode&) = delete;
  FoundNode& operator=(const FoundNode&) = delete;

  /// Nothing is noted: nobody of us makes groups that need it.
  [[nodiscard]] PassWorld world(SystemdManager* systemd = nullptr) {
    return {*tree_, *proc_, clock_, systemd, notes_};
  }
  [[nodiscard]] KernelTree& tree() { return *tree_; }
  [[nodiscard]] Assembled inputs(const SandboxId& id) const { return inputs_.inputs(id); }
  /// Of every sandbox that is known, or whose mark stands somewhere; its marked groups are in
  /// `found_groups`.
  [[nodiscard]] std::map<SandboxId, Record>& records() { return records_; }

 private:
  class NoNotes final : public CreationNotes {
   public:
    Status note_creation(const SandboxId&) override { return {}; }
    bool creation_noted(const SandboxId&) const override { return false; }
    void forget_creation(const SandboxId&) override {}
  };

  FoundNode(const Config& config, std::unique_ptr<KernelTree> tree,
            std::unique_ptr<KernelProc> proc);

  SystemClock clock_;
  std::unique_ptr<KernelTree> tree_;
  std::unique_ptr<KernelProc> proc_;
  InputStore inputs_;
  NoNotes notes_;
  std::map<SandboxId, Record> records_;
};

}  // namespace kcg
