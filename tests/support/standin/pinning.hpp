// SPDX-License-Identifier: Apache-2.0
//
// enable_vcpus_pinning: one vCPU per CPU when there are as many of both, else no pinning at all.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "model/ids.hpp"

namespace kcg::standin {

/// Value: what a shim remembers of its pinning.
class Pinning final {
 public:
  Pinning() = default;
  /// Of somebody who remembers it elsewhere.
  explicit Pinning(bool on) : on_(on) {}
  [[nodiscard]] bool on() const { return on_; }
  /// The kernel refuses CPUs that the thread's cpuset does not have; so does this, in Kata's words.
  [[nodiscard]] Status follow(const std::vector<Pid>& vcpus, const std::vector<int>& cpus);

 private:
  bool on_ = false;
};

}  // namespace kcg::standin
