// SPDX-License-Identifier: Apache-2.0
//
// The only program of the only image on the node: the first process of a pod. It reaps what is
// left to it and ends on TERM or INT. Static, so that the image is this one file.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void end(int signal_number) {
  (void)signal_number;
  _exit(0);
}

static void reap(int signal_number) {
  (void)signal_number;
  while (waitpid(-1, 0, WNOHANG) > 0) continue;
}

int main(void) {
  signal(SIGINT, end);
  signal(SIGTERM, end);
  signal(SIGCHLD, reap);
  for (;;) pause();
}
