// SPDX-License-Identifier: Apache-2.0
//
// The rest of a busy node: `strangers RATE` forks and executes short programs, RATE per second,
// until SIGTERM; then it prints how many there were and how long it took ("12000 6.0").
#include <signal.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr long kBatchesPerSecond = 100;

volatile sig_atomic_t told_to_end = 0;

double now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// The child is reaped by the kernel: SIGCHLD is ignored.
void one_stranger(const char* program) {
  const pid_t pid = ::vfork();
  if (pid != 0) return;
  ::execl(program, program, "-", nullptr);
  ::_exit(1);
}

int batches() {
  const int fd = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  const timespec step{0, 1'000'000'000L / kBatchesPerSecond};
  const itimerspec every{step, step};
  ::timerfd_settime(fd, 0, &every, nullptr);
  return fd;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  if (std::strcmp(argv[1], "-") == 0) return 0;
  const long per_batch = std::max(1L, std::atol(argv[1]) / kBatchesPerSecond);
  ::signal(SIGCHLD, SIG_IGN);
  struct sigaction end = {};
  end.sa_handler = [](int) { told_to_end = 1; };
  ::sigaction(SIGTERM, &end, nullptr);
  const int timer = batches();
  const double begin = now();
  std::uint64_t made = 0;
  while (told_to_end == 0) {
    std::uint64_t due = 0;
    if (::read(timer, &due, sizeof due) != sizeof due) continue;
    // A machine that cannot keep up is not made to catch up: the rate that was reached is printed.
    for (long i = 0; i < per_batch && told_to_end == 0; ++i, ++made) one_stranger("/proc/self/exe");
  }
  std::printf("%lu %.3f\n", static_cast<unsigned long>(made), now() - begin);
  return 0;
}
