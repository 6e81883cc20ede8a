// SPDX-License-Identifier: Apache-2.0
#include "cgroup/libcgroup_view.hpp"

#include <fcntl.h>
#include <libcgroup.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "base/fd.hpp"
#include "base/text.hpp"

namespace kcg {

namespace {

/// A mount's path and name take 4 KiB at most, and there are some dozen controllers.
constexpr std::size_t kMostTold = std::size_t{1} << 20;

/// "controller\0mount point\0" of each; or an error as "\0text\0".
std::string told_by_libcgroup() {
  const auto problem = [](const char* what, int code) {
    return std::string(1, '\0') + fmt::format("{}: {}", what, cgroup_strerror(code)) + '\0';
  };
  if (const int r = cgroup_init(); r != 0) return problem("cgroup_init", r);
  std::string told;
  void* handle = nullptr;
  cgroup_mount_point entry{};
  int r = cgroup_get_controller_begin(&handle, &entry);
  while (r == 0) {
    told += std::string(entry.name) + '\0' + entry.path + '\0';
    r = cgroup_get_controller_next(&handle, &entry);
  }
  (void)cgroup_get_controller_end(&handle);  // ignored: it only releases the iterator
  return r == ECGEOF ? told : problem("mounted controllers", r);
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    if (wrote < 0 && errno != EINTR) return false;
    if (wrote > 0) text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

std::string read_all(int fd) {
  std::string text;
  std::array<char, 4096> part{};
  while (text.size() < kMostTold) {
    const ssize_t got = ::read(fd, part.data(), part.size());
    if (got == 0 || (got < 0 && errno != EINTR)) break;
    if (got > 0) text.append(part.data(), static_cast<std::size_t>(got));
  }
  return text;
}

/// Whether it has said all that it had to say.
bool ended_well(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

Result<ControllerMounts> parsed(std::string_view told) {
  ControllerMounts mounts;
  const auto word = [&told] {
    const auto end = told.find('\0');
    const auto text = told.substr(0, end);
    told.remove_prefix(std::min(end, told.size() - 1) + 1);
    return std::string(text);
  };
  while (!told.empty()) {
    auto controller = word();
    auto path = word();
    if (controller.empty()) return fail(0, "libcgroup: {}", path);
    mounts.emplace(std::move(controller), std::move(path));
  }
  return mounts;
}

}  // namespace

Result<ControllerMounts> libcgroup_mounts() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return fail(errno, "libcgroup: no pipe: {}", errno_text(errno));
  Fd reads(ends[0]);
  Fd writes(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return fail(errno, "libcgroup: no process: {}", errno_text(errno));
  if (child == 0) ::_exit(write_all(writes.get(), told_by_libcgroup()) ? 0 : 1);
  writes.reset();
  const auto told = read_all(reads.get());
  reads.reset();  // or who tells more than is read would wait, and we for him
  if (!ended_well(child)) return fail(0, "libcgroup: it did not come to its end");
  return parsed(told);
}

std::vector<std::string> compare_mounts(const Host& host, const ControllerMounts& mounts) {
  std::vector<std::string> problems;
  for (const auto& hierarchy : host.hierarchies)
    for (const auto& controller : hierarchy.controllers) {
      const auto seen = mounts.find(controller);
      if (seen == mounts.end())
        problems.push_back(fmt::format("{}: mountinfo has it at {}, libcgroup does not see it",
                                       controller, hierarchy.mount_point));
      else if (seen->second != hierarchy.mount_point)
        problems.push_back(fmt::format("{}: mountinfo has it at {}, libcgroup at {}", controller,
                                       hierarchy.mount_point, seen->second));
    }
  return problems;
}

}  // namespace kcg
