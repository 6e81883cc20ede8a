// SPDX-License-Identifier: Apache-2.0
#include "support/device_program.hpp"

#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <stdexcept>

#include "base/result.hpp"

namespace kcg::test {

namespace {

int bpf(bpf_cmd command, bpf_attr& attr) {
  const auto result = ::syscall(SYS_bpf, command, &attr, sizeof attr);
  return result >= 0 ? static_cast<int>(result) : -errno;
}

std::uint64_t address(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }

Fd open_directory(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) throw std::runtime_error(path + ": " + errno_text(errno));
  return fd;
}

bpf_insn instruction(int code, int to, int from, int offset, std::uint32_t value) {
  bpf_insn one{};
  one.code = static_cast<__u8>(code);
  one.dst_reg = static_cast<__u8>(to & 0xf);
  one.src_reg = static_cast<__u8>(from & 0xf);
  one.off = static_cast<__s16>(offset);
  one.imm = static_cast<__s32>(value);
  return one;
}

}  // namespace

Fd load_device_program(std::uint32_t major, std::uint32_t minor) {
  constexpr int kLoadWord = BPF_LDX | BPF_MEM | BPF_W;
  constexpr int kJumpNotEqual = BPF_JMP | BPF_JNE | BPF_K;
  constexpr int kSet = BPF_ALU64 | BPF_MOV | BPF_K;
  constexpr int kExit = BPF_JMP | BPF_EXIT;
  const std::array<bpf_insn, 8> code = {
      instruction(kLoadWord, 2, 1, offsetof(bpf_cgroup_dev_ctx, major), 0),
      instruction(kLoadWord, 3, 1, offsetof(bpf_cgroup_dev_ctx, minor), 0),
      instruction(kJumpNotEqual, 2, 0, 3, major),
      instruction(kJumpNotEqual, 3, 0, 2, minor),
      instruction(kSet, 0, 0, 0, 0),
      instruction(kExit, 0, 0, 0, 0),
      instruction(kSet, 0, 0, 0, 1),
      instruction(kExit, 0, 0, 0, 0)};
  bpf_attr attr{};
  attr.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
  attr.insns = address(code.data());
  attr.insn_cnt = code.size();
  attr.license = address("Apache-2.0");
  const int loaded = bpf(BPF_PROG_LOAD, attr);
  if (loaded < 0) throw std::runtime_error("BPF_PROG_LOAD: " + errno_text(-loaded));
  return Fd(loaded);
}

std::uint32_t program_id(const Fd& program) {
  bpf_prog_info info{};
  bpf_attr attr{};
  attr.info.bpf_fd = static_cast<std::uint32_t>(program.get());
  attr.info.info_len = sizeof info;
  attr.info.info = address(&info);
  const int told = bpf(BPF_OBJ_GET_INFO_BY_FD, attr);
  if (told < 0) throw std::runtime_error("BPF_OBJ_GET_INFO_BY_FD: " + errno_text(-told));
  return info.id;
}

int attach_device_program(const std::string& directory, const Fd& program) {
  const auto group = open_directory(directory);
  bpf_attr attr{};
  attr.target_fd = static_cast<std::uint32_t>(group.get());
  attr.attach_bpf_fd = static_cast<std::uint32_t>(program.get());
  attr.attach_type = BPF_CGROUP_DEVICE;
  attr.attach_flags = BPF_F_ALLOW_MULTI;
  return -std::min(bpf(BPF_PROG_ATTACH, attr), 0);
}

std::vector<std::uint32_t> attached_device_programs(const std::string& directory) {
  const auto group = open_directory(directory);
  std::vector<std::uint32_t> ids(64);
  bpf_attr attr{};
  attr.query.target_fd = static_cast<std::uint32_t>(group.get());
  attr.query.attach_type = BPF_CGROUP_DEVICE;
  attr.query.prog_ids = address(ids.data());
  attr.query.prog_cnt = static_cast<std::uint32_t>(ids.size());
  const int told = bpf(BPF_PROG_QUERY, attr);
  if (told < 0) throw std::runtime_error("BPF_PROG_QUERY: " + errno_text(-told));
  ids.resize(attr.query.prog_cnt);
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace kcg::test
