// SPDX-License-Identifier: Apache-2.0
#include "pinning.hpp"

#include <sched.h>

#include <cerrno>
#include <cstddef>

#include "base/text.hpp"
#include "containers.hpp"

namespace kcg::standin {

namespace {

Status set_affinity(Pid tid, const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus)
    if (cpu < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(cpu), &set);
  if (::sched_setaffinity(tid, sizeof set, &set) == 0) return {};
  const int code = errno;
  return fail(code, "failed to set vcpu thread {} affinity to cpu [{}]: {}", tid, cpu_list(cpus),
              errno_text(code));
}

}  // namespace

Status Pinning::follow(const std::vector<Pid>& vcpus, const std::vector<int>& cpus) {
  if (vcpus.size() == cpus.size()) {
    for (std::size_t i = 0; i < vcpus.size(); ++i)
      if (auto done = set_affinity(vcpus[i], {cpus[i]}); !done) return done;
    on_ = true;
    return {};
  }
  if (!on_) return {};
  on_ = false;
  for (const Pid tid : vcpus)
    if (auto done = set_affinity(tid, cpus); !done) return done;
  return {};
}

}  // namespace kcg::standin
