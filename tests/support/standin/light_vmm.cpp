// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for QEMU where hundreds are needed: named threads and nothing behind them. Reads of
// QEMU's command line only -name, -smp, -object iothread and -pidfile. It has mapped RAM as a VMM
// with a file server does, and touches none of it. With STANDIN_KVM its vCPUs are real ones without
// memory: each runs once, so that KVM knows its thread. With STANDIN_NOISE_US it has one thread
// more, which names itself that often; with STANDIN_CHURN_US one that starts another that often,
// which names itself and ends; with STANDIN_IDLE_THREADS so many more without a name; with
// STANDIN_LATE_VCPU one vCPU more, which runs at SIGWINCH; with STANDIN_SLOW_FILE, a file on a file
// system that can be made to hang, SIGUSR1 hangs one of its threads.
#include <fcntl.h>
#include <linux/kvm.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <utility>

namespace {

constexpr std::size_t kStack = 16384;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kRam = std::size_t{256} << 20;

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

int vm = -1;  ///< of KVM

/// `name`: null, or at most 15 characters that live as long as the thread.
void start_thread(char* name, void* (*act)(void*) = idle) {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStack);
  pthread_t thread;
  if (::pthread_create(&thread, &attributes, act, name) == 0) ::pthread_detach(thread);
  ::pthread_attr_destroy(&attributes);
}

int make_vcpu() {
  static std::atomic<unsigned long> next{0};
  return ::ioctl(vm, KVM_CREATE_VCPU, next++);
}

[[noreturn]] void run(int vcpu) {
  (void)::ioctl(vcpu, KVM_RUN, 0);  // ignored: it ran as far as it can
  for (;;) ::pause();
}

/// A vCPU of KVM that has run, to its first instruction, which is nowhere; its name says which.
void* run_vcpu(void* name) {
  if (name != nullptr) ::pthread_setname_np(::pthread_self(), static_cast<const char*>(name));
  run(make_vcpu());
}

int late_vcpu = -1;  ///< KVM knows it from the start, and its thread from SIGWINCH on

sigset_t sigwinch() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGWINCH);
  return signals;
}

/// From then on the signal is blocked in all threads that are started.
void block_sigwinch() {
  const sigset_t signals = sigwinch();
  (void)::pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // ignored: cannot fail
}

void await_sigwinch() {
  const sigset_t signals = sigwinch();
  int signal = 0;
  while (::sigwait(&signals, &signal) != 0) continue;
}

void* run_late_vcpu(void*) {
  await_sigwinch();
  run(late_vcpu);
}

void* start_workers(void*) {
  for (;;) {
    await_sigwinch();
    start_thread(nullptr);
  }
}

/// A hostile guest's: names itself every so many microseconds, for ever.
void* rename_itself(void* pause_us) {
  const timespec pause{0, std::atol(static_cast<const char*>(pause_us)) * 1000};
  for (;;) {
    ::pthread_setname_np(::pthread_self(), "noise");
    ::nanosleep(&pause, nullptr);
  }
}

void* come_and_go(void*) {
  ::pthread_setname_np(::pthread_self(), "worker");
  return nullptr;
}

/// A hostile guest's, too: has its VMM start and end a thread every so many microseconds.
void* churn(void* pause_us) {
  const timespec pause{0, std::atol(static_cast<const char*>(pause_us)) * 1000};
  for (;;) {
    start_thread(nullptr, come_and_go);
    ::nanosleep(&pause, nullptr);
  }
}

int slow_file = -1;

/// Maps the file and touches it. The first thread to do so waits for its file system; the next one
/// waits for the first, and holds the lock of the whole address space meanwhile. From then on who
/// reads /proc/<pid>/cmdline waits, too.
void get_stuck(int) {
  void* const page = ::mmap(nullptr, kPage, PROT_READ, MAP_PRIVATE, slow_file, 0);
  if (page == MAP_FAILED) std::abort();
  (void)*static_cast<volatile char*>(page);
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
  const auto start_named = [&](std::string name, void* (*act)(void*) = idle) {
    start_thread(wanted.names ? names.emplace_back(std::move(name)).data() : nullptr, act);
  };
  (void)::mmap(nullptr, kRam, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
               -1,
               0);  // ignored: who measures it tells that it has no RAM
  if (std::getenv("STANDIN_KVM") != nullptr)
    vm = ::ioctl(::open("/dev/kvm", O_RDWR | O_CLOEXEC), KVM_CREATE_VM, 0);
  if (std::getenv("STANDIN_LATE_VCPU") != nullptr) {
    block_sigwinch();
    late_vcpu = make_vcpu();
    start_thread(nullptr, run_late_vcpu);
  }
  if (std::getenv("STANDIN_WORKERS") != nullptr) {
    block_sigwinch();
    start_thread(nullptr, start_workers);
  }
  if (wanted.iothread != nullptr) start_named("IO " + std::string(wanted.iothread));
  for (int cpu = 0; cpu < wanted.vcpus; ++cpu)
    start_named("CPU " + std::to_string(cpu) + "/KVM", vm < 0 ? idle : run_vcpu);
  if (const char* const idle_threads = std::getenv("STANDIN_IDLE_THREADS"))
    for (int left = std::atoi(idle_threads); left > 0; --left) start_thread(nullptr);
  pthread_t noise;
  if (char* const pause_us = std::getenv("STANDIN_NOISE_US"))
    (void)::pthread_create(&noise, nullptr, rename_itself, pause_us);  // ignored: the test notices
  if (char* const pause_us = std::getenv("STANDIN_CHURN_US"))
    (void)::pthread_create(&noise, nullptr, churn, pause_us);  // ignored: the bench notices
  if (const char* const path = std::getenv("STANDIN_SLOW_FILE")) {
    slow_file = ::open(path, O_RDONLY | O_CLOEXEC);
    struct sigaction stuck = {};
    stuck.sa_handler = get_stuck;
    ::sigaction(SIGUSR1, &stuck, nullptr);
  }
  if (wanted.pid_file != nullptr) write_pid(wanted.pid_file);
  for (;;) ::pause();
}
