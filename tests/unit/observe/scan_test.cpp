// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "observe/sandbox.hpp"
#include "observe/scan.hpp"
#include "observe/shims.hpp"
#include "sandbox_scenes.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {
namespace {

TEST(Scan, ShimsByTheirSandbox) {
  SandboxWorld world(scenario());
  world.boot();
  const Pid helper =
      world.proc.start(world.containerd, {"containerd-shim",
                                          "/opt/kata/bin/containerd-shim-kata-v2",
                                          {"containerd-shim-kata-v2", "-id", "S", "start"}});
  const Pid runc = world.proc.start(world.containerd, {"containerd-shim",
                                                       "/usr/bin/containerd-shim-runc-v2",
                                                       {"containerd-shim-runc-v2", "-id", "S"}});
  const auto shims = find_shims(world.proc, [](const auto&) { return std::nullopt; });
  ASSERT_EQ(shims.size(), 1U);
  EXPECT_EQ(shims.begin()->second, std::set<Pid>{world.shim});
  EXPECT_FALSE(shims.begin()->second.contains(helper));
  EXPECT_FALSE(shims.begin()->second.contains(runc));
}

TEST(Scan, ShimComms) {
  EXPECT_TRUE(shim_comm("containerd-shim"));
  EXPECT_TRUE(shim_comm("containerd-shim-kata-v2"));
  EXPECT_FALSE(shim_comm("containerd"));
  EXPECT_FALSE(shim_comm("qemu-system-x86"));
}

TEST(Scan, MarkedGroupsWhereALayoutPutsThem) {
  SandboxWorld world(scenario(HierarchyMode::v1));
  world.boot();
  (void)world.pass();
  world.tree.make_all("memory", "/stray/kata-sandbox-other-id");
  world.tree.make_all("memory", "/stray/elsewhere");
  world.tree.outside([&](CgroupTree& tree) {
    (void)tree.set_mark({"memory", path("/stray/kata-sandbox-other-id")}, "other-id");
    (void)tree.set_mark({"memory", path("/stray/elsewhere")}, "lost-id");
    (void)tree.set_mark({"memory", path("/stray")}, "not an id!");
  });
  const auto found = find_marked(world.tree);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found.at(SandboxId::parse("S").value()).size(), world.marked_groups().size());
  EXPECT_EQ(found.at(SandboxId::parse("other-id").value()),
            (std::set<GroupRef>{{"memory", path("/stray/kata-sandbox-other-id")}}));
}

/// A daemon that was killed between mkdir and mark has left a note, and nothing else.
TEST(Scan, UnmarkedGroupsOfThoseThatWereBeingMade) {
  SandboxWorld world(scenario(HierarchyMode::v1));
  for (const auto* made : {"/pod/kata-sandbox-noted/vcpu", "/pod/kata-sandbox-other", "/pod/noted"})
    world.tree.make_all("memory", made);
  const auto noted = SandboxId::parse("noted").value();
  MarkSearch search(world.tree, {noted});
  while (search.look(8)) continue;
  const std::set<GroupRef> expected = {{"memory", path("/pod/kata-sandbox-noted")},
                                       {"memory", path("/pod/kata-sandbox-noted/vcpu")}};
  EXPECT_EQ(search.found().at(noted), expected);
  EXPECT_EQ(search.found().size(), 1U);
}

}  // namespace
}  // namespace kcg::test
