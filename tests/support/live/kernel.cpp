// SPDX-License-Identifier: Apache-2.0
#include "support/live/kernel.hpp"

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>

#include "base/dir.hpp"
#include "base/fd.hpp"
#include "base/text.hpp"
#include "cgroup/tree.hpp"

namespace kcg::live {

namespace fs = std::filesystem;

std::string slurp(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return fd ? read_all(fd.get(), 1 << 24).value_or("") : "";
}

std::string slurp_line(const std::string& path) { return std::string(trim(slurp(path))); }

int scribble(const std::string& path, const std::string& text) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd || ::write(fd.get(), text.data(), text.size()) < 0) return errno;
  return 0;
}

bool kvm_works() { return Fd(::open("/dev/kvm", O_RDWR | O_CLOEXEC)).valid(); }

std::set<int> kvms_vcpus(int vmm) {
  std::set<int> found;
  std::error_code gone;  // VMs may end while we walk
  for (const auto& vm : fs::directory_iterator("/sys/kernel/debug/kvm", gone)) {
    if (!vm.path().filename().string().starts_with(std::to_string(vmm) + '-')) continue;
    for (const auto& entry : fs::directory_iterator(vm, gone))
      if (const auto tid = parse_pid(trim(slurp(entry.path() / "pid")))) found.insert(*tid);
  }
  return found;
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::vector<std::string> directories(const std::string& path) {
  if (!exists(path)) return {};
  std::vector<std::string> found = {path};
  std::error_code gone;  // groups may vanish while we walk
  for (auto it = fs::directory_iterator(path, gone); it != fs::end(it); it.increment(gone)) {
    if (gone) break;
    if (!it->is_directory(gone)) continue;
    const auto below = directories(it->path());
    found.insert(found.end(), below.begin(), below.end());
  }
  return found;
}

std::optional<std::string> mark_of(const std::string& directory) {
  std::array<char, 4352> value;
  const auto size =
      ::getxattr(directory.c_str(), "trusted.kata-cgroupd", value.data(), value.size());
  if (size < 0) return std::nullopt;
  return std::string(value.data(), static_cast<std::size_t>(size));
}

std::map<std::string, std::string> groups_of(int tid) {
  std::map<std::string, std::string> groups;
  const auto text = slurp(fmt::format("/proc/{}/cgroup", tid));
  for (const auto line : lines(text)) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    for (const auto name : split(line.substr(first + 1, second - first - 1), ','))
      groups[std::string(name)] = line.substr(second + 1);
  }
  return groups;
}

std::vector<Seen> threads_of(int pid) {
  std::vector<Seen> seen;
  std::error_code gone;
  const auto tasks = fmt::format("/proc/{}/task", pid);
  for (auto it = fs::directory_iterator(tasks, gone); it != fs::end(it); it.increment(gone)) {
    if (gone) break;
    const int tid = parse_pid(it->path().filename().string()).value_or(0);
    Seen one{tid, slurp_line(it->path() / "comm"), groups_of(tid)};
    if (!one.groups.empty()) seen.push_back(std::move(one));
  }
  std::sort(seen.begin(), seen.end(), [](const Seen& a, const Seen& b) { return a.tid < b.tid; });
  return seen;
}

bool alive(int pid) {
  const auto text = slurp(fmt::format("/proc/{}/stat", pid));
  const auto end = text.rfind(')');  // a comm may contain anything
  return end != std::string::npos && text.size() > end + 2 && text[end + 2] != 'Z' &&
         text[end + 2] != 'X';
}

std::vector<int> children_of(int pid) {
  std::vector<int> children;
  for (const auto& thread : threads_of(pid)) {
    const auto text = slurp(fmt::format("/proc/{}/task/{}/children", pid, thread.tid));
    for (const auto word : words(text)) children.push_back(parse_pid(word).value_or(0));
  }
  return children;
}

std::vector<std::string> arguments_of(int pid) {
  std::vector<std::string> arguments;
  const auto text = slurp(fmt::format("/proc/{}/cmdline", pid));
  for (const auto part : split(text, '\0')) arguments.emplace_back(part);
  return arguments;
}

std::uint64_t resident_kib(int pid) {
  const auto text = slurp(fmt::format("/proc/{}/status", pid));
  for (const auto line : lines(text))
    if (line.rfind("VmRSS:", 0) == 0) return parse_u64(words(line)[1]).value_or(0);
  return 0;
}

std::chrono::nanoseconds cpu_time(int pid) {
  std::chrono::nanoseconds sum{0};
  for (const auto& thread : threads_of(pid)) {
    const auto text = slurp(fmt::format("/proc/{}/task/{}/schedstat", pid, thread.tid));
    if (const auto fields = words(text); !fields.empty())
      sum += std::chrono::nanoseconds(parse_i64(fields[0]).value_or(0));
  }
  return sum;
}

}  // namespace kcg::live
