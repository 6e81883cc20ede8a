// SPDX-License-Identifier: Apache-2.0
//
// Random nodes and sandboxes for property and fault tests.
#pragma once

#include "property/random.hpp"
#include "support/sandbox_world.hpp"

namespace kcg::test {

[[nodiscard]] inline Scenario random_scenario(Random& random) {
  Scenario s;
  s.mode = random.one_of<HierarchyMode>(
      {HierarchyMode::v1, HierarchyMode::v2, HierarchyMode::v2, HierarchyMode::hybrid});
  s.systemd = random.chance(50);
  s.kata_only = random.chance(60);
  s.pod_less = random.chance(25);
  s.thread_names = random.chance(40);
  s.kvm_entries = random.chance(80);
  s.iothread = random.chance(70);
  s.virtiofsd = random.chance(70);
  s.vcpus = random.upto(5);
  s.containers = random.upto(3);
  s.strangers = random.upto(2);
  s.device_programs = random.upto(2);
  s.kata_cpuset = random.chance(70);
  s.kata_pins = random.one_of<std::optional<bool>>({true, false, std::nullopt});
  s.id = random.one_of<std::string>(
      {"c0ffee0123456789", "a", "web.scope", "x-1_y.z", std::string(128, 'f')});
  s.config.placement.thread_groups = random.chance(80);
  s.config.placement.existing = ExistingPolicy::place;
  if (random.chance(40)) s.config.layout.sandbox_cgroup_only = random.chance(50);
  if (s.systemd && random.chance(25)) {  // a scope of our own
    s.kata_only = false;
    s.config.layout.sandbox_cgroup_only = true;
  }
  // On v2 these directories are Kata's, and nothing of ours may stand in them.
  if (random.chance(30) && s.mode != HierarchyMode::v2)
    s.config.layout.legacy_root = "/kata_overhead";
  s.config.sizing.memory = random.one_of<MemorySizing>(
      {MemorySizing::never, MemorySizing::annotated, MemorySizing::always});
  s.config.sizing.vcpu_quota = random.chance(80);
  if (random.chance(40)) s.pod_quota = 10'000 * (1 + random.upto(20));
  return s;
}

}  // namespace kcg::test
