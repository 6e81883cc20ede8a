// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for QEMU where hundreds are needed: named threads and nothing behind them. Reads of
// QEMU's command line only -name, -smp, -object iothread and -pidfile.
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>

namespace {

constexpr std::size_t kStack = 16384;

struct Wanted {
  bool names = false;
  int vcpus = 1;
  const char* iothread = nullptr;
  const char* pid_file = nullptr;
};

Wanted read_arguments(int argc, char** argv) {
  Wanted wanted;
  for (int i = 1; i + 1 < argc; ++i) {
    const char* const value = argv[i + 1];
    if (std::strcmp(argv[i], "-name") == 0) wanted.names = std::strstr(value, "debug-threads=on");
    if (std::strcmp(argv[i], "-smp") == 0) wanted.vcpus = std::atoi(value);
    if (std::strcmp(argv[i], "-pidfile") == 0) wanted.pid_file = value;
    if (std::strncmp(value, "iothread,id=", 12) == 0) wanted.iothread = value + 12;
  }
  return wanted;
}

void* idle(void* name) {
  if (name != nullptr) ::pthread_setname_np(::pthread_self(), static_cast<const char*>(name));
  for (;;) ::pause();
}

/// `name` must live as long as the thread, and have at most 15 characters.
void start_thread(const Wanted& wanted, std::string& name) {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStack);
  pthread_t thread;
  void* const its_name = wanted.names ? name.data() : nullptr;
  if (::pthread_create(&thread, &attributes, idle, its_name) == 0) ::pthread_detach(thread);
  ::pthread_attr_destroy(&attributes);
}

void write_pid(const char* path) {
  if (std::FILE* const file = std::fopen(path, "we")) {
    std::fprintf(file, "%d\n", ::getpid());
    std::fclose(file);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Wanted wanted = read_arguments(argc, argv);
  std::deque<std::string> names;
  if (wanted.iothread != nullptr)
    start_thread(wanted, names.emplace_back("IO " + std::string(wanted.iothread)));
  for (int cpu = 0; cpu < wanted.vcpus; ++cpu)
    start_thread(wanted, names.emplace_back("CPU " + std::to_string(cpu) + "/KVM"));
  if (wanted.pid_file != nullptr) write_pid(wanted.pid_file);
  for (;;) ::pause();
}
