// SPDX-License-Identifier: Apache-2.0
//
// What anybody can run: a program under any name, with any arguments. It starts CHILDREN children
// that only wait, and executes itself anew EXECS times, each 5 ms; then it waits, too.
// Both numbers come from the environment, so that its command line is free.
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

namespace {

long number(const char* name) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::atol(text) : 0;
}

[[noreturn]] void wait_for_ever() {
  for (;;) ::pause();
}

}  // namespace

int main(int, char** argv) {
  for (long left = number("CHILDREN"); left > 0; --left) {
    if (::fork() != 0) continue;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    wait_for_ever();
  }
  const long left = number("EXECS");
  if (left <= 0) wait_for_ever();
  ::setenv("EXECS", std::to_string(left - 1).c_str(), 1);
  ::unsetenv("CHILDREN");
  ::poll(nullptr, 0, 5);
  ::execv("/proc/self/exe", argv);
  return 1;
}
