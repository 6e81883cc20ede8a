// SPDX-License-Identifier: Apache-2.0
//
// A vCPU thread recognised by what it does (L5, internal to proc/), for kernels whose KVM does not
// say which thread runs which vCPU.
#pragma once

#include "base/dir.hpp"
#include "model/ids.hpp"

namespace kcg {

/// True: the thread sleeps in ioctl KVM_RUN on a kvm-vcpu descriptor. A thread that is on a CPU
/// right now reads "running" and is not recognised this time; its guest time grows instead.
[[nodiscard]] bool in_vcpu_ioctl(const Dir& process, Pid tid);

}  // namespace kcg
