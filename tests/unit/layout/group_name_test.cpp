// SPDX-License-Identifier: Apache-2.0
#include "layout/group_name.hpp"

#include <gtest/gtest.h>

#include "layout/layout.hpp"
#include "oci/cgroups_path.hpp"
#include "support/allowed.hpp"
#include "support/allowed_places.hpp"
#include "support/sandbox_world.hpp"
#include "unit/layout/layout_rows.hpp"

namespace kcg {
namespace {

std::string of(std::size_t count, char c = 'a') { return std::string(count, c); }

struct CutRow {
  const char* name;
  std::string whole, cut;
};
class Cut : public testing::TestWithParam<CutRow> {};

TEST_P(Cut, LooksLikeNoContainer) {
  const auto& row = GetParam();
  EXPECT_EQ(cut(row.whole), row.cut);
  EXPECT_FALSE(test::like_a_container(row.cut));
}

const CutRow kCuts[] = {
    {"short", "c0ffee", "c0ffee"},
    {"one_less", of(63), of(63)},
    {"an_id_of_containerd", of(64, '0'), of(32, '0') + "-" + of(32, '0')},
    {"one_more", of(65), of(32) + "-" + of(33)},
    {"the_longest_with_one_cut", of(95), of(32) + "-" + of(63)},
    {"two_cuts", of(96), of(32) + "-" + of(32) + "-" + of(32)},
    {"the_longest_id", of(128), of(32) + "-" + of(32) + "-" + of(32) + "-" + of(32)},
    {"after_another_character", "X." + of(64), "X." + of(32) + "-" + of(32)},
    {"before_another_character", of(64) + ".x", of(32) + "-" + of(32) + ".x"},
    {"interrupted", of(63) + "_" + of(63), of(63) + "_" + of(63)},
    {"interrupted_by_a_capital", of(40) + "A" + of(40), of(40) + "A" + of(40)},
    {"dash_of_its_own", of(32) + "-" + of(31), of(32) + "-" + of(31)},
    {"nothing", "", ""},
};
INSTANTIATE_TEST_SUITE_P(GroupName, Cut, testing::ValuesIn(kCuts), test::row_name<CutRow>);

/// No form makes a directory inside a scope that the kubelet takes for a container.
TEST(GroupName, InsideAScopeIsNoContainersName) {
  const std::string ids[] = {"S", of(64), of(64, '7') + ".x", of(128)};
  const std::string paths[] = {"/p/",      "/a.slice/b.scope/",       "/b.scope/deep/er/",
                               "x.scope/", "a.slice:cri-containerd:", "-.slice:docker:"};
  const auto scoped = [](const CgroupPath& path) { return inside_scope(path.parent()); };
  for (const auto& text : ids)
    for (const auto& prefix : paths)
      for (const auto form :
           {Form::plain, Form::nested, Form::own_scope, Form::legacy_v1, Form::legacy_v2}) {
        const auto id = SandboxId::parse(text).value();
        const auto path = parse_cgroups_path(prefix + text).value();
        const bool systemd = path.driver == Driver::systemd;
        if ((form == Form::plain && systemd) || (form == Form::own_scope && !systemd) ||
            (form == Form::nested && !systemd))
          continue;
        const auto paths_of_it = layout_paths(Config{}, id, path, form).value();
        const auto top = paths_of_it.overhead.value_or(paths_of_it.sandbox);
        SCOPED_TRACE(top.str());
        const bool whole = top.name().find(text) != std::string::npos;
        EXPECT_EQ(whole, !scoped(top) || !test::like_a_container(text));
        EXPECT_FALSE(scoped(top) && test::like_a_container(std::string(top.name())));
        for (const auto cls : {ThreadClass::vcpu, ThreadClass::shim})
          EXPECT_FALSE(test::like_a_container(std::string(class_path(top, cls).name())));
      }
}

/// What a version made that did not cut names.
struct Earlier {
  explicit Earlier(HierarchyMode mode) : world(scenario(mode)) {
    world.boot();
    for (const auto& h : world.tree.host().hierarchies) {
      world.tree.make_all(h.name.str(), group());
      world.tree.outside([&](CgroupTree& tree) {
        const GroupRef ref{h.name, CgroupPath::parse(group()).value()};
        EXPECT_TRUE(tree.set_mark(ref, world.scenario.id));
        for (const auto* file : {"cpuset.cpus", "cpuset.mems"})  // ignored: v1's cpuset has them
          if (h.name == "cpuset") (void)tree.write(ref, file, file[7] == 'c' ? "0-3" : "0");
      });
    }
  }
  static test::Scenario scenario(HierarchyMode mode) {
    test::Scenario s;
    s.mode = mode;
    s.systemd = true;
    s.id = of(64, 'f');
    return s;
  }
  [[nodiscard]] std::string group() const {
    return world.kata_group + "/kata-sandbox-" + world.scenario.id;
  }
  [[nodiscard]] std::vector<std::string> cut_groups() const {
    std::vector<std::string> found;
    for (const auto& h : world.tree.host().hierarchies)
      for (const auto& path : world.tree.groups(h.name.str()))
        if (path.find(of(32, 'f') + "-") != std::string::npos) found.push_back(path);
    return found;
  }
  test::SandboxWorld world;
};

TEST(GroupName, AGroupOfTheEarlierNameIsUsedUntilItsSandboxEnds) {
  for (const auto mode : {HierarchyMode::v1, HierarchyMode::v2}) {
    SCOPED_TRACE(name(mode));
    Earlier earlier(mode);
    auto& world = earlier.world;
    world.restart_daemon();
    for (int i = 0; i < 3; ++i) (void)world.pass();
    const auto* h = mode == HierarchyMode::v1 ? "cpu" : "v2";
    EXPECT_EQ(world.tree.group_of(world.vcpus.front(), h), earlier.group() + "/vcpu");
    EXPECT_EQ(world.tree.group_of(world.shim, h), earlier.group() + "/shim");
    EXPECT_EQ(earlier.cut_groups(), std::vector<std::string>{});
    EXPECT_EQ(test::describe(world.look().plan), "");
    world.end_all();
    world.clock.advance(std::chrono::seconds(6));
    (void)world.pass();
    world.clock.advance(std::chrono::seconds(6));  // what stands in a scope is systemd's at first
    (void)world.pass();
    EXPECT_EQ(world.marked_groups(), std::vector<std::string>{});
  }
}

TEST(GroupName, SomebodyElsesDirectoryOfTheEarlierNameIsNotUsed) {
  for (const std::string mark : {"", "other"}) {
    auto s = Earlier::scenario(HierarchyMode::v2);
    test::SandboxWorld world(s);
    world.boot();
    const auto path = world.kata_group + "/kata-sandbox-" + s.id;
    world.tree.make_all("v2", path);
    if (!mark.empty())
      world.tree.outside([&](CgroupTree& tree) {
        EXPECT_TRUE(tree.set_mark({"v2", CgroupPath::parse(path).value()}, mark));
      });
    for (int i = 0; i < 3; ++i) (void)world.pass();
    EXPECT_EQ(world.misplaced(), "");
  }
}

TEST(GroupName, AScopeIsFoundHoweverFarAbove) {
  const auto inside = [](std::string_view path) {
    return inside_scope(CgroupPath::parse(path).value());
  };
  EXPECT_TRUE(inside("/a.scope"));
  EXPECT_TRUE(inside("/p.slice/a.scope/b/c"));
  EXPECT_FALSE(inside("/"));
  EXPECT_FALSE(inside("/p.slice/a.scopes/b"));
  EXPECT_FALSE(inside("/a.scope.d/b"));
}

}  // namespace
}  // namespace kcg
