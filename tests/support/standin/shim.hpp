// SPDX-License-Identifier: Apache-2.0
//
// The long-lived shim: its time line from its own start to serving commands.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "containers.hpp"
#include "kata_groups.hpp"
#include "options.hpp"
#include "pinning.hpp"
#include "qmp.hpp"
#include "state.hpp"

namespace kcg::standin {

/// Resource: one sandbox. serve() does it all and returns when the sandbox has ended.
class Shim final {
 public:
  [[nodiscard]] static Result<Shim> create(Options options);
  [[nodiscard]] Status serve();

 private:
  Shim(Options options, std::vector<Mount> mounts, std::string group);

  [[nodiscard]] Status bring_up();
  /// What a real shim spends on other things.
  [[nodiscard]] Status pass_time(std::chrono::milliseconds time) const;
  [[nodiscard]] Status make_groups();
  [[nodiscard]] Status move_self();
  [[nodiscard]] Status start_processes();
  [[nodiscard]] Status start_a_helper();
  [[nodiscard]] Status save(const char* state);
  [[nodiscard]] Status answer_one();

  // shim_commands.cpp
  /// The text after "ok".
  [[nodiscard]] Result<std::string> obey(const std::string& command);
  [[nodiscard]] Status act(const std::vector<std::string>& words);
  [[nodiscard]] Result<std::string> status();
  /// Classes as QEMU itself knows them.
  [[nodiscard]] Result<std::string> threads();
  [[nodiscard]] Status pull_back_vcpus();
  [[nodiscard]] Status pull_back_vmm();
  [[nodiscard]] Result<std::vector<Pid>> vcpu_threads();
  [[nodiscard]] Status kill_vmm();
  [[nodiscard]] Status end(const std::vector<std::string>& steps);

  // shim_containers.cpp
  [[nodiscard]] Status create_container(const std::string& id);
  /// start, stop: what its state says; the limits stay.
  [[nodiscard]] Status set_state(const std::string& id, const char* state);
  [[nodiscard]] Status update_container(const std::string& id,
                                        const std::vector<std::string>& changes);
  [[nodiscard]] Status delete_container(const std::string& id);
  [[nodiscard]] Status resources_changed();

  void reap();
  void tear_down();

  Options options_;
  KataGroup group_;
  KataGroup overhead_;  ///< where the shim lives with sandbox_cgroup_only=false
  Fd control_;
  Fd signals_;
  std::optional<Qmp> qmp_;
  std::vector<Container> containers_;
  Pinning pinning_;
  std::string state_ = "ready";
  Pid vmm_ = 0;
  Pid helper_ = 0;
  bool ended_ = false;
};

/// The `delete` helper: what containerd runs when a shim is dead.
[[nodiscard]] Status remove_leftovers(const Options& options);

}  // namespace kcg::standin
