// SPDX-License-Identifier: Apache-2.0
#include "kernel/namespaces.hpp"

#include <gtest/gtest.h>

namespace kcg {
namespace {

TEST(Namespaces, OnlyTheNodesOwnWillDo) {
  const Namespaces node = {"pid:[4026531836]", "user:[4026531837]", "cgroup:[4026531835]"};
  const struct {
    const char* name;
    Namespaces own;
    std::vector<std::string> parts;  ///< of the text; none: no problem
  } rows[] = {
      {"the node's", node, {}},
      {"a kernel without user namespaces", {node.pid, "", node.cgroup}, {}},
      {"pid", {"pid:[4026532178]", node.user, node.cgroup}, {"pid namespace pid:[4026532178]"}},
      {"user", {node.pid, "user:[4026532177]", node.cgroup}, {"user namespace user:[4026532177]"}},
      {"cgroup",
       {node.pid, node.user, "cgroup:[4026532177]"},
       {"cgroup namespace cgroup:[4026532177]"}},
      {"a container",
       {"pid:[4026532178]", node.user, "cgroup:[4026532177]"},
       {"pid namespace", "; the cgroup namespace"}},
      {"another kind's number", {"pid:[4026531837]", node.user, node.cgroup}, {"pid namespace"}},
  };
  for (const auto& row : rows) {
    const auto problem = namespace_problem(row.own);
    EXPECT_EQ(problem.empty(), row.parts.empty()) << row.name << problem;
    for (const auto& part : row.parts)
      EXPECT_NE(problem.find(part), std::string::npos) << row.name << ": " << problem;
  }
}

}  // namespace
}  // namespace kcg
