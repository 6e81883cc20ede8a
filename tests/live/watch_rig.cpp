// SPDX-License-Identifier: Apache-2.0
#include "live/watch_rig.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>

namespace kcg::test {

namespace {

constexpr std::chrono::seconds kDeadline{10};

}  // namespace

Rig::Rig() : loop_(std::move(Loop::create().value())) {}

HintSink Rig::sink() {
  return [this](const Hint& hint) { hints_.push_back(hint); };
}

TellHealth Rig::tell() {
  return [this](const std::string& problem) { told_.push_back(problem); };
}

bool Rig::until(const std::function<bool()>& settled) {
  const auto deadline = std::chrono::steady_clock::now() + kDeadline;
  while (!settled()) {
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    if (sd_event_run(loop_->get(), static_cast<std::uint64_t>(left.count())) < 0) return false;
  }
  return true;
}

bool Rig::hears(HintKind kind, const std::string& text, Pid pid) {
  return until([&] { return count(kind, text, pid) > 0; });
}

long Rig::count(HintKind kind, const std::string& text, Pid pid) const {
  return std::count_if(hints_.begin(), hints_.end(), [&](const Hint& hint) {
    return hint.kind == kind && hint.text == text && hint.pid == pid && hint.problem.empty();
  });
}

Playground::Playground() {
  std::string name = "/tmp/kcg-watch-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
  path_ = name;
}

Playground::~Playground() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

long kernel_watches() {
  long count = 0;
  for (const auto& fd : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream file(fd.path());
    for (std::string line; std::getline(file, line);) count += line.starts_with("inotify wd:");
  }
  return count;
}

void make_directories(const std::string& path) { std::filesystem::create_directories(path); }

void write_file(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

Helper::Helper(const std::function<void()>& act) {
  int down[2], up[2];
  if (::pipe2(down, O_CLOEXEC) != 0 || ::pipe2(up, O_CLOEXEC) != 0)
    throw std::runtime_error("pipe2");
  pid_ = ::fork();
  if (pid_ == 0) {
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);  // ignored: only a second guard
    char byte = 0;
    if (::read(down[0], &byte, 1) != 1) ::_exit(1);
    act();
    if (::write(up[1], &byte, 1) != 1) ::_exit(1);
    for (;;) (void)::pause();
  }
  ::close(down[0]);
  ::close(up[1]);
  to_ = down[1];
  from_ = up[0];
}

Helper::~Helper() {
  end();
  ::close(to_);
  ::close(from_);
}

void Helper::go() {
  char byte = 'x';
  if (::write(to_, &byte, 1) != 1 || ::read(from_, &byte, 1) != 1)
    throw std::runtime_error("the helper has ended");
}

void Helper::end() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

int apart(const std::function<void()>& body) {
  std::cout << std::flush;  // or the child says it again
  const pid_t pid = ::fork();
  if (pid == 0) {
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);  // ignored: only a second guard
    body();
    std::cout << std::flush;
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 1;
  ::waitpid(pid, &status, 0);
  return status;
}

void change_inotify_limits(int watches, int instances) {
  const std::pair<const char*, int> limits[] = {
      {"/proc/sys/user/max_inotify_watches", watches},
      {"/proc/sys/user/max_inotify_instances", instances}};
  for (const auto& [path, limit] : limits) {
    std::ofstream file(path);
    file << limit << std::flush;
    if (!file) throw std::runtime_error(std::string("cannot write ") + path);
  }
}

void limit_inotify(int watches, int instances) {
  if (::unshare(CLONE_NEWUSER) != 0) throw std::runtime_error("unshare");
  change_inotify_limits(watches, instances);
}

pid_t run_program(const std::string& path) {
  pid_t pid = 0;
  std::string name = path;
  char* const argv[] = {name.data(), nullptr};
  if (::posix_spawn(&pid, path.c_str(), nullptr, nullptr, argv, environ) != 0)
    throw std::runtime_error("posix_spawn " + path);
  ::waitpid(pid, nullptr, 0);
  return pid;
}

}  // namespace kcg::test
