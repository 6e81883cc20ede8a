// SPDX-License-Identifier: Apache-2.0
#include "proc/vcpu_syscall.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/text.hpp"

namespace kcg {

namespace {

constexpr std::string_view kKvmRun = "0xae80";  // _IO(KVMIO, 0x80)
constexpr std::string_view kVcpuFile = "anon_inode:kvm-vcpu";

/// "0x1b" -> 27.
std::optional<unsigned> parse_hex(std::string_view text) {
  unsigned value = 0;
  if (!text.starts_with("0x")) return std::nullopt;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + 2, end, value, 16);
  if (error != std::errc() || rest != end) return std::nullopt;
  return value;
}

}  // namespace

bool in_vcpu_ioctl(const Dir& process, Pid tid) {
  const auto text = process.read_kernel(fmt::format("task/{}/syscall", tid));
  if (!text) return false;
  const auto parts = words(*text);  // number, six arguments, stack pointer, program counter
  if (parts.size() < 3 || parse_u64(parts[0]) != SYS_ioctl || parts[2] != kKvmRun) return false;
  const auto fd = parse_hex(parts[1]);
  if (!fd) return false;
  std::array<char, 64> link{};
  const std::string path = fmt::format("fd/{}", *fd);
  const ssize_t size = ::readlinkat(process.fd(), path.c_str(), link.data(), link.size());
  return size > 0 &&
         std::string_view(link.data(), static_cast<std::size_t>(size)).starts_with(kVcpuFile);
}

}  // namespace kcg
