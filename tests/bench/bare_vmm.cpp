// SPDX-License-Identifier: Apache-2.0
#include "bare_vmm.hpp"

#include <time.h>

#include <algorithm>
#include <stdexcept>

#include "support/live/kernel.hpp"
#include "support/live/programs.hpp"
#include "support/live/wait.hpp"

namespace kcg::bench {

live::Child start_light(const live::Node& node, int vcpus) {
  live::Command command;
  command.argv = {live::light_vmm(), "-name", "baseline,debug-threads=on", "-smp",
                  std::to_string(vcpus)};
  command.groups = node.corner().system();
  return live::Child::start(command);
}

/// Waits until they are all there.
std::vector<int> vcpu_threads(int pid, int vcpus) {
  std::vector<int> tids;
  const auto all = [&] {
    tids.clear();
    for (const auto& thread : live::threads_of(pid))
      if (thread.comm.rfind("CPU ", 0) == 0) tids.push_back(thread.tid);
    return tids.size() == static_cast<std::size_t>(vcpus);
  };
  if (!live::wait_until(all)) throw std::runtime_error("baseline: the light VMM did not start");
  return tids;
}

std::string next_group(const live::Node& node) {
  static int count = 0;
  return fmt::format("{}/baseline-{}", node.corner().top(), ++count);
}

bool splits(const standin::Mount& mount) {
  return mount.unified || std::any_of(mount.controllers.begin(), mount.controllers.end(),
                                      [](const std::string& name) {
                                        return name == "cpu" || name == "cpuacct" ||
                                               name == "cpuset";
                                      });
}

Micros cpu_of(const std::function<void()>& act) {
  const auto now = [] {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  };
  const auto before = now();
  act();
  return std::chrono::duration_cast<Micros>(now() - before);
}

}  // namespace kcg::bench
