// SPDX-License-Identifier: Apache-2.0
//
// What all contract tests share: short words for groups, files and errnos.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>

#include "contract/world.hpp"

namespace kcg::test {

class Contract : public ::testing::TestWithParam<WorldKind> {
 protected:
  void SetUp() override {
    if (GetParam().name == "kernel" && ::geteuid() != 0) GTEST_SKIP() << "needs root";
    world_ = GetParam().make(GetParam().host);
  }

  [[nodiscard]] CgroupTree& tree() { return world_->tree(); }
  /// The first hierarchy with this controller ("" = the first at all).
  [[nodiscard]] std::string with(std::string_view controller) {
    for (const auto& one : tree().host().hierarchies)
      if (controller.empty() || one.has(controller)) return one.name;
    return "";
  }
  /// The group `name` ("a", "a/b", "" = the world's own) of a hierarchy.
  [[nodiscard]] GroupRef at(const std::string& hierarchy, const std::string& name) {
    const std::string base(world_->base().str());
    return {hierarchy, CgroupPath::parse(name.empty() ? base : base + "/" + name).value()};
  }
  void make(const GroupRef& group) {
    const auto made = tree().make(group);
    ASSERT_TRUE(made) << made.error().text;
  }
  [[nodiscard]] int write(const GroupRef& group, const std::string& file, std::string_view text) {
    return code(tree().write(group, file, text));
  }
  [[nodiscard]] int move(Pid task, const GroupRef& group, const std::string& file) {
    return write(group, file, std::to_string(task));
  }
  /// Contents, or the errno's text in angle brackets.
  [[nodiscard]] std::string read(const GroupRef& group, const std::string& file) {
    const auto text = tree().read(group, file);
    return text ? *text : fmt::format("<{}>", errno_text(text.error().code));
  }
  template <class T>
  [[nodiscard]] static int code(const Result<T>& result) {
    return result ? 0 : result.error().code;
  }

  std::unique_ptr<World> world_;
};

inline std::string kind_name(const ::testing::TestParamInfo<WorldKind>& info) {
  return info.param.name;
}

}  // namespace kcg::test
