// SPDX-License-Identifier: Apache-2.0
//
// What is said of a group that was just made, without reading it.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "contract/fixture.hpp"
#include "kernel/keyed.hpp"
#include "observe/group_files.hpp"

namespace kcg::test {
namespace {

using Texts = std::vector<std::pair<std::string, std::string>>;

class Fresh : public Contract {
 protected:
  /// Each file that is told of is there, and says that.
  void compare(const GroupRef& group, const Texts& told) {
    for (const auto& [file, text] : told) {
      SCOPED_TRACE(group.hierarchy.str() + " " + file);
      const auto now = read(group, file);
      if (file == "cgroup.controllers") {
        EXPECT_EQ(words(now), words(text));
      } else if (file == "memory.events" || file == "memory.oom_control") {
        EXPECT_EQ(keyed_value(now, "oom_kill").value(), keyed_value(text, "oom_kill").value());
      } else if (file == "memory.current" || file == "memory.usage_in_bytes") {
        EXPECT_TRUE(parse_u64(now)) << now;  // the kernel's own structures may count already
      } else {
        EXPECT_EQ(trim(now), text);
      }
    }
  }
  /// Each file that is read elsewhere and not told of is not there, or depends on more.
  void miss_none(const GroupRef& group, const FileNames& read_elsewhere, const Texts& told) {
    for (const std::string file : read_elsewhere) {
      const auto same = [&](const auto& one) { return one.first == file; };
      const bool known = std::any_of(told.begin(), told.end(), same);
      const bool depends = file.starts_with("cpuset.") || file.starts_with("memory.memsw.");
      if (known || depends) continue;
      EXPECT_EQ(code(tree().read(group, file)), ENOENT) << file;
    }
  }
  void look_at(const Hierarchy& h, const GroupRef& group, std::optional<ThreadClass> cls,
               const std::string& enabled) {
    auto told = fresh_files(h, cls, enabled, tree().host().page_size);
    for (auto& [file, text] : told)
      if (cls && file == "cgroup.type") text = "threaded";
    compare(group, told);
    miss_none(group, own_files(h, !cls, cls.value_or(ThreadClass::vmm)), told);
  }
  /// Those of them that there are, for what is made below the group; v2.
  std::string enable(const Hierarchy& h, const GroupRef& group,
                     const std::vector<std::string>& controllers) {
    if (!h.unified) return "";
    for (const auto& controller : controllers)
      (void)write(group, "cgroup.subtree_control", "+" + controller);  // ignored: it is read back
    return read(group, "cgroup.subtree_control");
  }
};

TEST_P(Fresh, GroupsAreAsIsSaidOfThem) {
  for (const auto& h : tree().host().hierarchies) {
    const auto top = at(h.name.str(), "a");
    const auto offered = enable(h, at(h.name.str(), ""), h.controllers);
    make(top);
    look_at(h, top, std::nullopt, offered);
    if (!h.splits_threads()) continue;
    const auto enabled = enable(h, top, {"cpu", "cpuset"});
    for (const auto cls : kThreadClasses) {
      const auto group = at(h.name.str(), "a/" + std::string(name(cls)));
      make(group);
      if (h.unified) {
        EXPECT_EQ(write(group, "cgroup.type", "threaded"), 0);
      }
      look_at(h, group, cls, enabled);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(V1, Fresh, ::testing::ValuesIn(worlds(false)), kind_name);
INSTANTIATE_TEST_SUITE_P(V2, Fresh, ::testing::ValuesIn(worlds(true)), kind_name);

}  // namespace
}  // namespace kcg::test
