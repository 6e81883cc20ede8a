// SPDX-License-Identifier: Apache-2.0
//
// Sandboxes for looks at them.
#pragma once

#include <gtest/gtest.h>

#include "observe/sandbox.hpp"
#include "observe/scan.hpp"
#include "observe/shims.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {

inline Scenario scenario(HierarchyMode mode = HierarchyMode::v2, bool systemd = false) {
  Scenario s;
  s.mode = mode;
  s.systemd = systemd;
  s.id = std::string("S");
  return s;
}

inline CgroupPath path(const std::string& text) { return CgroupPath::parse(text).value(); }

inline void put(SandboxWorld& world, Pid pid, const std::string& group) {
  world.tree.outside([&](CgroupTree& tree) {
    for (const auto& h : tree.host().hierarchies)
      EXPECT_TRUE(tree.write({h.name, path(group)}, "cgroup.procs", std::to_string(pid)));
  });
}

/// Somebody who is nobody's, and whom no other hierarchy has there.
inline Pid put_by_hand(SandboxWorld& world, const GroupRef& group) {
  const Pid pid = world.proc.start(1, {"hand", "/bin/hand", {}});
  world.tree.outside([&](CgroupTree& tree) {
    EXPECT_TRUE(tree.write(group, "cgroup.procs", std::to_string(pid)));
  });
  return pid;
}

inline std::vector<Pid> foreign(const Observed& observed) {
  std::vector<Pid> pids;
  for (const auto& process : observed.foreign) pids.push_back(process.facts.key.pid);
  return pids;
}

}  // namespace kcg::test
