// SPDX-License-Identifier: Apache-2.0
//
// The groups that Kata makes on a node with cgroup v2 and systemd, and what it does to them later.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "kata_groups.hpp"
#include "model/ids.hpp"
#include "node_settings.hpp"

namespace kcg::standin {

/// Value: the groups of one sandbox.
class NodeGroups final {
 public:
  using Log = std::function<void(const std::string&)>;

  /// `cgroups_path`: as the engine gives it, in either driver's form.
  [[nodiscard]] static Result<NodeGroups> find(const NodeSettings& settings,
                                               const std::string& sandbox,
                                               const std::string& cgroups_path, Log log);

  /// Where Kata puts the sandbox, or with sandbox_cgroup_only=false the hypervisor; null when it
  /// was told to make nothing.
  [[nodiscard]] const KataGroup* own() const { return settings_.own_group ? &own_ : nullptr; }
  /// For Kata's state file.
  [[nodiscard]] std::string recorded() const { return unit_.empty() ? own_.path() : path_; }
  [[nodiscard]] std::string recorded_overhead() const;

  /// All but a scope, which systemd makes for those who enter it.
  [[nodiscard]] Status make() const;
  [[nodiscard]] Status enter(Pid shim, Pid self) const;
  /// What makes the next container of a pod fail when somebody has emptied Kata's scope.
  [[nodiscard]] Status require() const;
  /// Once; what fails is only logged, as Kata does. A scope goes by itself.
  void remove() const;

 private:
  NodeGroups(const NodeSettings& settings, KataGroup own, KataGroup overhead, std::string path,
             Log log)
      : settings_(settings),
        own_(std::move(own)),
        overhead_(std::move(overhead)),
        path_(std::move(path)),
        log_(std::move(log)) {}
  [[nodiscard]] Status start_scope(Pid shim, Pid self) const;
  [[nodiscard]] bool in_scope(Pid pid) const;

  NodeSettings settings_;
  KataGroup own_;
  KataGroup overhead_;
  std::string path_;   ///< the engine's
  std::string slice_;  ///< "": it is no path of systemd's form
  std::string unit_;   ///< the scope's; "": Kata makes none
  Log log_;
};

}  // namespace kcg::standin
