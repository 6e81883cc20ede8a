// SPDX-License-Identifier: Apache-2.0
#include "support/live/child.hpp"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "support/live/kernel.hpp"
#include "support/live/must.hpp"

namespace kcg::live {

namespace {

constexpr int kCannotStart = 113;

void redirect_output(const std::string& path) {
  if (path.empty()) return;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(file, 1);
  ::dup2(file, 2);
}

/// Between fork and exec; the test itself has one thread, so everything is allowed here.
[[noreturn]] void become(const Command& command) {
  for (const auto& group : command.groups)
    if (scribble(group + "/cgroup.procs", "0") != 0) ::_exit(kCannotStart);
  redirect_output(command.output);
  if (!command.directory.empty() && ::chdir(command.directory.c_str()) != 0) ::_exit(kCannotStart);
  for (const auto& [name, value] : command.environment) ::setenv(name.c_str(), value.c_str(), 1);
  if (command.before_exec) command.before_exec();
  std::vector<char*> argv;
  for (const auto& word : command.argv) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execv(command.program.empty() ? argv[0] : command.program.c_str(), argv.data());
  ::_exit(kCannotStart);
}

/// fork(2), or the same with a chosen pid. A pid is free once its last owner was reaped.
int fork_as(int wanted) {
  if (wanted == 0) return ::fork();
  clone_args arguments{};
  pid_t pids[] = {wanted};
  arguments.exit_signal = SIGCHLD;
  arguments.set_tid = reinterpret_cast<std::uintptr_t>(pids);
  arguments.set_tid_size = 1;
  return static_cast<int>(::syscall(SYS_clone3, &arguments, sizeof arguments));
}

}  // namespace

Child Child::start(const Command& command) {
  const int pid = fork_as(command.wanted_pid);
  if (pid == 0) become(command);
  Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (pid < 0 || !pidfd) throw std::runtime_error("cannot start " + command.argv[0]);
  return Child(pid, std::move(pidfd));
}

Child::~Child() {
  if (!pidfd_ || status_) return;
  signal(SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Child::signal(int number) const {
  (void)::syscall(SYS_pidfd_send_signal, pidfd_.get(), number, nullptr,
                  0);  // ignored: it may be gone
}

bool Child::ended_within(std::chrono::milliseconds patience) const {
  pollfd ended{pidfd_.get(), POLLIN, 0};
  return ::poll(&ended, 1, static_cast<int>(patience.count())) == 1;
}

std::optional<int> Child::wait(std::chrono::milliseconds patience) {
  if (status_ || !ended_within(patience)) return status_;
  int status = 0;
  if (::waitpid(pid_, &status, 0) == pid_) status_ = status;
  return status_;
}

}  // namespace kcg::live
