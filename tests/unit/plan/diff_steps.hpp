// SPDX-License-Identifier: Apache-2.0
//
// Plans as short texts, and a sandbox that is in its place.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/desired.hpp"
#include "plan/diff.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {

inline Scenario scenario(HierarchyMode mode, bool systemd = false) {
  Scenario s;
  s.mode = mode;
  s.systemd = systemd;
  s.strangers = 0;
  s.id = "S";
  s.vcpus = 1;
  s.thread_names = true;
  return s;
}

/// One step as "op group-below-the-pod key=value", groups of one hierarchy only.
inline std::string shorten(const SandboxWorld& world, const Step& step) {
  auto path = step.group.path.str();
  if (path.starts_with(world.pod_group)) path = path.substr(world.pod_group.size());
  auto text = fmt::format("{} {}", name(step.operation), path.empty() ? "." : path);
  if (const auto* move = move_of(step)) return text + fmt::format(" {}", name(move->cls));
  if (is<op::Create>(step) || is<op::Remove>(step) || is<op::Mark>(step)) return text;
  return text + fmt::format(" {}={}", text_of(step).key, text_of(step).new_value);
}

inline std::vector<std::string> steps(const SandboxWorld& world, const Plan& plan,
                                      std::string_view hierarchy) {
  std::vector<std::string> found;
  for (const auto& step : plan.steps)
    if (step.group.hierarchy == hierarchy) found.push_back(shorten(world, step));
  return found;
}

inline std::size_t position(const std::vector<std::string>& all, std::string_view head) {
  const auto it = std::find_if(all.begin(), all.end(),
                               [&](const std::string& one) { return one.starts_with(head); });
  return static_cast<std::size_t>(it - all.begin());
}

inline Scenario with_programs(unsigned count) {
  auto s = scenario(HierarchyMode::v2);
  s.device_programs = count;
  return s;
}

class Settled : public testing::Test {
 protected:
  void place(const Scenario& s) {
    world_.emplace(s);
    world_->boot();
    (void)world_->pass();
    (void)world_->pass();
    ASSERT_EQ(world_->misplaced(), "");
    world_->tree.clear_log();
  }
  [[nodiscard]] std::vector<std::string> plan(std::string_view hierarchy = "v2") {
    return steps(*world_, world_->look().plan, hierarchy);
  }
  void outside(const char* hierarchy, const std::string& path, const char* file,
               const std::string& text) {
    world_->tree.outside([&](CgroupTree& tree) {
      const auto done = tree.write({hierarchy, CgroupPath::parse(path).value()}, file, text);
      EXPECT_TRUE(done) << done.error().text;
    });
  }
  [[nodiscard]] std::string at(const char* below) { return world_->pod_group + below; }
  std::optional<SandboxWorld> world_;
};

}  // namespace kcg::test
