// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for virtiofsd: a process and its child with the same command line, the child with the
// threads of the real one. Serves nothing.
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace {

void* idle(void* name) {
  ::pthread_setname_np(::pthread_self(), static_cast<const char*>(name));
  for (;;) ::pause();
}

void run_child() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // the real pair ends together, too
  static std::array<char[16], 3> names = {"virtiofsd", "vring_worker", "virtiofsd-backe"};
  for (auto& name : names) {
    pthread_t thread;
    if (::pthread_create(&thread, nullptr, idle, name) == 0) ::pthread_detach(thread);
  }
  for (;;) ::pause();
}

}  // namespace

int main() {
  const pid_t child = ::fork();
  if (child == 0) run_child();
  if (child < 0) return 1;
  return ::waitpid(child, nullptr, 0) == child ? 0 : 1;
}
