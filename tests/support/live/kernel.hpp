// SPDX-License-Identifier: Apache-2.0
//
// What the kernel's own files say, read without any code of the product.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/live/sanitized.hpp"

namespace kcg::live {

/// "" when the file cannot be read.
[[nodiscard]] std::string slurp(const std::string& path);
/// Without the newline at the end.
[[nodiscard]] std::string slurp_line(const std::string& path);
/// One write(2); 0 or an errno.
[[nodiscard]] int scribble(const std::string& path, const std::string& text);
[[nodiscard]] bool exists(const std::string& path);
/// Whether a VMM can use KVM here; else it emulates, and only names tell its vCPUs.
[[nodiscard]] bool kvm_works();
/// Threads of which KVM says that they run a vCPU of this VMM's.
[[nodiscard]] std::set<int> kvms_vcpus(int vmm);
/// Directories below `path`, itself first; parents before children.
[[nodiscard]] std::vector<std::string> directories(const std::string& path);
/// The mark of a group, "<id> <run root>" or "<id>"; nullopt: none.
[[nodiscard]] std::optional<std::string> mark_of(const std::string& directory);

/// Value: one thread as /proc shows it. Keys of `groups`: a v1 controller, or "" for cgroup2.
struct Seen {
  int tid = 0;
  std::string comm;
  std::map<std::string, std::string> groups;
};
/// The leader first; empty when the process is gone.
[[nodiscard]] std::vector<Seen> threads_of(int pid);
/// Of one task; empty when it is gone.
[[nodiscard]] std::map<std::string, std::string> groups_of(int tid);
/// False for a zombie, too: an orphan's new parent may be slow.
[[nodiscard]] bool alive(int pid);
[[nodiscard]] std::vector<int> children_of(int pid);
[[nodiscard]] std::vector<std::string> arguments_of(int pid);
[[nodiscard]] std::uint64_t resident_kib(int pid);
/// How much more of a program may be resident because a sanitizer keeps what it has freed.
inline constexpr std::uint64_t kQuarantineKib = kSanitized ? 512 * 1024 : 0;
/// Time on a CPU of all threads.
[[nodiscard]] std::chrono::nanoseconds cpu_time(int pid);

}  // namespace kcg::live
