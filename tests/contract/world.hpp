// SPDX-License-Identifier: Apache-2.0
//
// Where the contract runs: a CgroupTree with a group of its own in every hierarchy, processes that
// are as real as the tree is, and the ProcView that sees them.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cgroup/tree.hpp"
#include "proc/view.hpp"

namespace kcg::test {

/// Value: a process and its threads, the leader first.
struct TestProcess {
  Pid pid = 0;
  std::vector<Pid> tids;
};

/// Resource: removes its groups and ends its processes.
class World {
 public:
  virtual ~World() = default;
  [[nodiscard]] virtual CgroupTree& tree() = 0;
  [[nodiscard]] virtual ProcView& proc() = 0;
  /// Who starts the processes.
  [[nodiscard]] virtual Pid parent() const = 0;
  /// A process with `threads` threads in all, somewhere outside the world's groups. It is called
  /// "contract", and so are its threads.
  [[nodiscard]] virtual TestProcess spawn(unsigned threads) = 0;
  /// The process is gone when this returns.
  virtual void end(const TestProcess& process) = 0;
  /// The id of a device program that stays loaded as long as the world.
  [[nodiscard]] virtual std::uint32_t load_device_program() = 0;
  /// The mark of a version before, as it wrote it.
  virtual void set_earlier_mark(const GroupRef& group, const std::string& value) = 0;
  /// What somebody else does, by paths.
  virtual void outside(const std::function<void(CgroupTree&)>& act) = 0;
  /// A user other than root owns the directory from now on.
  virtual void give_away(const GroupRef& group) = 0;
  /// Where the kernel says that a task is.
  [[nodiscard]] virtual std::string group_of(Pid tid, std::string_view hierarchy) = 0;
  /// The world's own group, the same path in every hierarchy.
  [[nodiscard]] virtual CgroupPath base() const = 0;
};

/// Value: how to make a world, and what it is called in the test's name.
struct WorldKind {
  std::string name;
  Host host;
  std::function<std::unique_ptr<World>(const Host&)> make;
};
/// gtest prints parameters of failed tests by this.
void PrintTo(const WorldKind& kind, std::ostream* out);

/// Fake worlds always; kernel worlds where this machine mounts such a tree.
[[nodiscard]] std::vector<WorldKind> worlds(bool unified, std::string_view controller = "");

/// Resource makers; see fake_world.cpp and kernel_world.cpp.
[[nodiscard]] std::unique_ptr<World> make_fake_world(const Host& host);
[[nodiscard]] std::unique_ptr<World> make_kernel_world(const Host& host);
/// The machine's own v1 mounts (unified = false) or cgroup2 mount, with the controllers that a
/// group below its root gets; no hierarchies: it has none.
[[nodiscard]] Host machine_host(bool unified);

}  // namespace kcg::test
