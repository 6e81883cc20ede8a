// SPDX-License-Identifier: Apache-2.0
#include "processes.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

namespace kcg::standin {

Result<Pid> spawn(const std::vector<std::string>& argv, const Surroundings& around) {
  std::vector<char*> words;
  for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
  if (around.descriptor_3 >= 0) ::posix_spawn_file_actions_adddup2(&files, around.descriptor_3, 3);
  for (const int output : {1, 2})
    if (!around.output.empty())
      ::posix_spawn_file_actions_addopen(&files, output, around.output.c_str(),
                                         O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(
      &attributes,
      static_cast<short>(POSIX_SPAWN_SETSIGMASK | (around.own_group ? POSIX_SPAWN_SETPGROUP : 0)));
  Pid pid = 0;
  const int code = ::posix_spawn(&pid, words[0], &files, &attributes, words.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  if (code != 0) return fail(code, "spawn {}: {}", argv[0], errno_text(code));
  return pid;
}

Result<bool> run(const std::vector<std::string>& argv, const Surroundings& around) {
  const auto pid = spawn(argv, around);
  if (!pid) return forward(pid.error());
  int status = 0;
  while (::waitpid(*pid, &status, 0) < 0)
    if (errno != EINTR) return fail(errno, "wait for {}: {}", argv[0], errno_text(errno));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool alive(Pid pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  std::getline(file, line);
  const auto end = line.rfind(')');
  return end != std::string::npos && end + 2 < line.size() && line[end + 2] != 'Z';
}

void pause_for(std::chrono::milliseconds time) {
  if (time.count() > 0) (void)::poll(nullptr, 0, static_cast<int>(time.count()));
}

}  // namespace kcg::standin
