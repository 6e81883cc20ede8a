// SPDX-License-Identifier: Apache-2.0
//
// What stands in for Kata's runtime on the node of the end-to-end tests. There containerd's shim of
// runc is the shim, under Kata's name, and this is what it calls as "runc": each call is a process
// of its own. To the node it does what Kata's shim does. The engine takes QEMU's pid for that of
// the sandbox, as with Kata; a container is a process that only waits.
#pragma once

#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "model/ids.hpp"
#include "node_groups.hpp"
#include "node_home.hpp"
#include "node_settings.hpp"
#include "state.hpp"

namespace kcg::standin {

/// Resource: one call for a sandbox, or for a container of it.
class NodeRuntime final {
 public:
  /// Of a sandbox or container that was created before.
  [[nodiscard]] static Result<NodeRuntime> find(const Call& call);
  /// Of a new one; makes its directory.
  [[nodiscard]] static Result<NodeRuntime> make(const Call& call);

  [[nodiscard]] Status create();
  [[nodiscard]] Status start();
  [[nodiscard]] Status update(const std::string& resources);
  [[nodiscard]] Status remove();

 private:
  NodeRuntime(Call call, Record record, NodeSettings settings, NodeGroups groups);
  [[nodiscard]] static Result<NodeRuntime> open(const Call& call, Record record);

  [[nodiscard]] bool is_container() const { return id_ != record_.sandbox; }
  void log(const std::string& text) const { log_line(call_, text); }
  [[nodiscard]] Status create_sandbox();
  [[nodiscard]] Status start_vmm();
  [[nodiscard]] Status start_late_virtiofsd() const;
  [[nodiscard]] Status create_container();
  /// It has ended, and still counts.
  [[nodiscard]] Status stop_container();
  [[nodiscard]] Status remove_container();
  [[nodiscard]] Status write_pid(Pid pid) const;
  /// One call at a time, as in Kata's one process; released with the descriptor.
  [[nodiscard]] Result<Fd> lock() const;
  [[nodiscard]] Result<Saved> load() const;
  /// After a change of a container: Kata's cpuset, its hold on the hypervisor, pinning.
  [[nodiscard]] Status resources_changed(const Saved& saved);

  Call call_;
  std::string id_;
  Record record_;
  NodeSettings settings_;
  NodeGroups groups_;
  Options kata_;  ///< of this sandbox
};

}  // namespace kcg::standin
