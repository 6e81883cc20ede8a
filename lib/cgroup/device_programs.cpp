// SPDX-License-Identifier: Apache-2.0
#include "cgroup/device_programs.hpp"

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/fd.hpp"

namespace kcg {

namespace {

/// The kernel's own bound (BPF_CGROUP_MAX_PROGS).
constexpr std::size_t kMostPrograms = 64;

/// Unknown bytes of the argument are zero, as older kernels demand; newer ones may also write into
/// parts that these headers do not know.
struct Request {
  bpf_attr attr;
  std::array<char, 128> room;
  Request() : attr(), room() {}
};

/// The call's result, or -errno.
int call(bpf_cmd command, Request& request) {
  for (;;) {
    const auto result = ::syscall(SYS_bpf, command, &request.attr, sizeof request.attr);
    if (result >= 0) return static_cast<int>(result);
    const int code = errno;
    if (code != EINTR && code != EAGAIN) return -code;
  }
}

std::uint32_t number(int fd) { return static_cast<std::uint32_t>(fd); }

}  // namespace

Result<DevicePolicy> device_programs(int group_fd) {
  std::array<std::uint32_t, kMostPrograms> ids{};
  Request request;
  request.attr.query.target_fd = number(group_fd);
  request.attr.query.attach_type = BPF_CGROUP_DEVICE;
  request.attr.query.prog_ids = reinterpret_cast<std::uintptr_t>(ids.data());
  request.attr.query.prog_cnt = kMostPrograms;
  const int result = call(BPF_PROG_QUERY, request);
  if (result == -ENOSYS || result == -EINVAL) return DevicePolicy{};
  if (result < 0) return fail(-result, "BPF_PROG_QUERY: {}", errno_text(-result));
  DevicePolicy policy;
  const auto count = std::min<std::size_t>(request.attr.query.prog_cnt, kMostPrograms);
  policy.programs.assign(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count));
  std::sort(policy.programs.begin(), policy.programs.end());
  if (count > 0) policy.flags = request.attr.query.attach_flags;
  return policy;
}

Status change_device_programs(int group_fd, const DeviceChange& change) {
  Request by_id;
  by_id.attr.prog_id = change.program;
  const int opened = call(BPF_PROG_GET_FD_BY_ID, by_id);
  if (opened < 0) return fail(-opened, "BPF_PROG_GET_FD_BY_ID: {}", errno_text(-opened));
  const Fd program(opened);
  Request request;
  request.attr.target_fd = number(group_fd);
  request.attr.attach_bpf_fd = number(program.get());
  request.attr.attach_type = BPF_CGROUP_DEVICE;
  request.attr.attach_flags = change.attach ? change.flags : 0;
  const int result = call(change.attach ? BPF_PROG_ATTACH : BPF_PROG_DETACH, request);
  if (result >= 0) return {};
  return fail(-result, "{}: {}", change.attach ? "BPF_PROG_ATTACH" : "BPF_PROG_DETACH",
              errno_text(-result));
}

}  // namespace kcg
