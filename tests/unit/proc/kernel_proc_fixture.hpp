// SPDX-License-Identifier: Apache-2.0
//
// A KernelProc over files that a test has written.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>

#include "proc/kernel_proc.hpp"
#include "proc_fixture.hpp"

namespace kcg::test {

class KernelProcTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<KernelProc> open(
      std::size_t max_kept = KernelProc::kMaxKept) const {
    // On a busy machine as well a command line is read when it is asked for.
    return KernelProc::open(fixture_.proc(), fixture_.kvm(), max_kept,
                            {.patience = std::chrono::minutes(1)})
        .value();
  }
  ProcFixture fixture_;
};

}  // namespace kcg::test
