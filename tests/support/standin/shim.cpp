// SPDX-License-Identifier: Apache-2.0
#include "shim.hpp"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>

#include "base/text.hpp"
#include "sockets.hpp"
#include "vmm.hpp"

namespace kcg::standin {

namespace {

constexpr std::size_t kThreadStack = 65536;

/// The threads that a Go runtime has; they do nothing but be there.
void start_idle_threads(std::uint32_t count) {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kThreadStack);
  for (std::uint32_t i = 0; i < count; ++i) {
    pthread_t thread;
    const auto idle = [](void*) -> void* {
      for (;;) ::pause();
    };
    if (::pthread_create(&thread, &attributes, idle, nullptr) == 0) ::pthread_detach(thread);
  }
  ::pthread_attr_destroy(&attributes);
}

Result<Fd> catch_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGCHLD}) ::sigaddset(&set, signal);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  Fd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return fail(errno, "signalfd: {}", errno_text(errno));
  return fd;
}

}  // namespace

Shim::Shim(Options options, std::vector<Mount> mounts, std::string group)
    : options_(std::move(options)),
      group_(mounts, std::move(group)),
      overhead_(mounts, options_.overhead_root + "/" + options_.id) {}

Result<Shim> Shim::create(Options options) {
  auto mounts = find_mounts(options.hierarchy);
  if (!mounts) return forward(mounts.error());
  auto path = read_cgroups_path(options.bundle);
  if (!path) return forward(path.error());
  auto group = kata_group_path(*path);
  if (!group) return forward(group.error());
  return Shim(std::move(options), std::move(*mounts), std::move(*group));
}

Status Shim::serve() {
  auto signals = catch_signals();
  if (!signals) return forward(signals.error());
  signals_ = std::move(*signals);
  start_idle_threads(options_.shim_threads);
  if (auto done = bring_up(); !done) {
    tear_down();
    return done;
  }
  while (!ended_) {
    std::array<pollfd, 2> fds = {pollfd{control_.get(), POLLIN, 0},
                                 pollfd{signals_.get(), POLLIN, 0}};
    if (::poll(fds.data(), fds.size(), -1) < 0) continue;  // EINTR
    if (fds[1].revents != 0) reap();
    if (fds[0].revents == 0) continue;
    if (auto done = answer_one(); !done) fmt::print(stderr, "shim: {}\n", done.error().text);
  }
  return {};
}

Status Shim::bring_up() {
  if (auto done = make_directories(options_); !done) return done;
  auto control = listen_at(places(options_).control());
  if (!control) return forward(control.error());
  control_ = std::move(*control);
  if (auto done = write_shim_pid(options_.bundle, ::getpid()); !done) return done;
  if (auto done = pass_time(options_.group_delay); !done) return done;
  if (auto done = make_groups(); !done) return done;
  if (auto done = pass_time(options_.move_delay); !done) return done;
  if (options_.self_move)
    if (auto done = move_self(); !done) return done;
  if (auto done = pass_time(options_.fork_delay); !done) return done;
  return start_processes();
}

Status Shim::pass_time(std::chrono::milliseconds time) const {
  pollfd told_to_end{signals_.get(), POLLIN, 0};
  if (::poll(&told_to_end, 1, static_cast<int>(time.count())) == 0) return {};
  return fail(EINTR, "told to end before the VMM was started");
}

Status Shim::make_groups() {
  if (auto done = group_.make(); !done) return done;
  return options_.sandbox_cgroup_only ? Status{} : overhead_.make();
}

Status Shim::move_self() {
  return (options_.sandbox_cgroup_only ? group_ : overhead_).attach_process(::getpid());
}

Status Shim::start_processes() {
  if (options_.helper)
    if (auto done = start_a_helper(); !done) return done;
  Fd socket;
  if (options_.qmp) {
    auto listening = listen_at(places(options_).qmp());
    if (!listening) return forward(listening.error());
    socket = std::move(*listening);
  }
  auto vmm = start_vmm(options_, socket);
  if (!vmm) return forward(vmm.error());
  vmm_ = *vmm;
  socket.reset();
  if (auto done = save("ready"); !done) return done;
  // A VMM that dies at once is one of the cases to be tested, not a failure of the stand-in.
  if (options_.qmp)
    if (auto qmp = Qmp::connect(places(options_).qmp())) qmp_ = std::move(*qmp);
  if (!options_.sandbox_cgroup_only && qmp_)
    if (auto done = pull_back_vcpus(); !done) return done;
  return save("running");
}

Status Shim::start_a_helper() {
  auto helper = start_helper(options_, {});
  if (!helper) return forward(helper.error());
  helper_ = *helper;
  return {};
}

Status Shim::save(const char* state) {
  state_ = state;
  if (!has_directories(options_)) return {};  // an end in another order: there is nothing to keep
  return save_state(
      options_, {state_, group_.path(), options_.sandbox_cgroup_only ? "" : overhead_.path(), vmm_,
                 helper_, containers_});
}

Status Shim::answer_one() {
  const Fd client(::accept4(control_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  std::string rest;
  const auto command = receive_line(client.get(), rest, std::chrono::seconds(5));
  if (!command) return forward(command.error(), "control");
  const auto answer = obey(*command);
  return send_line(client.get(), answer ? "ok " + *answer : "error " + answer.error().text);
}

void Shim::reap() {
  signalfd_siginfo info;
  bool told_to_end = false;
  while (::read(signals_.get(), &info, sizeof info) == sizeof info)
    told_to_end = told_to_end || info.ssi_signo != SIGCHLD;
  for (Pid* const pid : {&vmm_, &helper_})
    if (*pid != 0 && ::waitpid(*pid, nullptr, WNOHANG) == *pid) *pid = 0;
  if (told_to_end) tear_down();
}

void Shim::tear_down() {
  // ignored, all of it: Kata's clean-up goes on after a failure too, and leaks what it cannot
  // remove
  for (const char* const step : {"vmm", "leave", "groups", "state"}) (void)end({step});
  ended_ = true;
}

Status remove_leftovers(const Options& options) {
  const auto saved = load_state(options);
  if (!saved) return {};
  for (const Pid pid : {saved->vmm, saved->helper})
    if (pid > 0) (void)::kill(pid, SIGKILL);  // ignored: it may be dead already
  auto mounts = find_mounts(options.hierarchy);
  if (!mounts) return forward(mounts.error());
  // ignored: as long as the VMM is dying its groups are busy, and Kata leaks them then
  (void)KataGroup(*mounts, saved->sandbox_group).remove();
  if (!saved->overhead_group.empty()) (void)KataGroup(*mounts, saved->overhead_group).remove();
  remove_directories(options);
  return {};
}

}  // namespace kcg::standin
