// SPDX-License-Identifier: Apache-2.0
#include "integration/process.hpp"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

namespace kcg::integration {

namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  Fd read, write;
};

Pipe make_pipe() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) < 0) throw std::runtime_error("pipe2");
  return {Fd(fds[0]), Fd(fds[1])};
}

[[noreturn]] void become(const std::vector<std::string>& argv, std::optional<uid_t> uid) {
  std::vector<char*> arguments;
  for (const auto& one : argv) arguments.push_back(const_cast<char*>(one.c_str()));
  arguments.push_back(nullptr);
  if (uid && (setgroups(0, nullptr) < 0 || setresgid(*uid, *uid, *uid) < 0 ||
              setresuid(*uid, *uid, *uid) < 0))
    _exit(126);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

/// A standard stream of the child; -1 leaves ours.
void use(int fd, int as) {
  if (fd >= 0) dup2(fd, as);
}

pid_t spawn(const std::vector<std::string>& argv, std::optional<uid_t> uid, int in, int out,
            int err) {
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("fork");
  if (pid > 0) return pid;
  use(in, STDIN_FILENO);
  use(out, STDOUT_FILENO);
  use(err, STDERR_FILENO);
  become(argv, uid);
}

int status_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Appends what is there; false at the end of the stream.
bool drain(int fd, std::string& to) {
  char buffer[65536];
  const ssize_t count = read(fd, buffer, sizeof buffer);
  if (count > 0) to.append(buffer, static_cast<std::size_t>(count));
  return count > 0;
}

int left(Clock::time_point deadline) {
  const auto rest =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return rest > 0 ? static_cast<int>(rest) : 0;
}

/// Reads both streams to their end; false when that takes too long.
bool collect(Fd& out, Fd& err, Ended& ended) {
  const auto deadline = Clock::now() + kPatience;
  while (out.valid() || err.valid()) {
    pollfd both[] = {{out.get(), POLLIN, 0}, {err.get(), POLLIN, 0}};
    if (poll(both, 2, left(deadline)) <= 0) return false;
    if (both[0].revents != 0 && !drain(out.get(), ended.out)) out.reset();
    if (both[1].revents != 0 && !drain(err.get(), ended.err)) err.reset();
  }
  return true;
}

}  // namespace

Ended run(const std::vector<std::string>& argv, std::optional<uid_t> uid) {
  Pipe out = make_pipe(), err = make_pipe();
  const Fd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const pid_t pid = spawn(argv, uid, nothing.get(), out.write.get(), err.write.get());
  out.write.reset();
  err.write.reset();
  Ended ended;
  const bool in_time = collect(out.read, err.read, ended);
  if (!in_time) kill(pid, SIGKILL);
  int status = 0;
  waitpid(pid, &status, 0);
  if (in_time) ended.status = status_of(status);
  return ended;
}

Server::Server(const std::vector<std::string>& argv, std::optional<uid_t> uid) {
  Pipe in = make_pipe(), out = make_pipe();
  pid_ = spawn(argv, uid, in.read.get(), out.write.get(), -1);
  pidfd_.reset(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  in_ = std::move(in.write);
  out_ = std::move(out.read);
}

Server::~Server() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Server::say(const std::string& line) {
  const std::string text = line + "\n";
  if (write(in_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw std::runtime_error("the server does not listen");
}

bool Server::read_more(std::chrono::milliseconds patience) {
  pollfd one{out_.get(), POLLIN, 0};
  if (poll(&one, 1, static_cast<int>(patience.count())) <= 0) return false;
  if (!drain(out_.get(), rest_)) return false;
  for (auto end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n')) {
    seen_.push_back(rest_.substr(0, end));
    rest_.erase(0, end + 1);
  }
  return true;
}

std::optional<std::string> Server::expect(const std::string& part) {
  const auto deadline = Clock::now() + kPatience;
  do {
    for (std::size_t i = next_; i < seen_.size(); ++i) {
      if (seen_[i].find(part) == std::string::npos) continue;
      next_ = i + 1;
      return seen_[i];
    }
  } while (read_more(std::chrono::milliseconds(left(deadline))));
  return std::nullopt;
}

std::size_t Server::count(const std::string& part) const {
  std::size_t found = 0;
  for (const auto& line : seen_) found += line.find(part) != std::string::npos ? 1U : 0U;
  return found;
}

bool Server::running() {
  pollfd one{pidfd_.get(), POLLIN, 0};
  return pid_ >= 0 && poll(&one, 1, 0) == 0;
}

int Server::wait() {
  pollfd one{pidfd_.get(), POLLIN, 0};
  if (poll(&one, 1, static_cast<int>(std::chrono::milliseconds(kPatience).count())) <= 0) return -1;
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return status_of(status);
}

}  // namespace kcg::integration
