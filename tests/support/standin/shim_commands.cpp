// SPDX-License-Identifier: Apache-2.0
//
// What a shim does when it is told to: each command of --help.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "base/text.hpp"
#include "shim.hpp"

namespace kcg::standin {

namespace {

/// For a VMM without QMP.
std::vector<Pid> named_threads(Pid vmm, const char* prefix) {
  std::vector<Pid> tids;
  const auto tasks = fmt::format("/proc/{}/task", vmm);
  std::error_code gone;
  for (const auto& task : std::filesystem::directory_iterator(tasks, gone)) {
    std::ifstream file(task.path() / "comm");
    std::string comm;
    std::getline(file, comm);
    if (comm.rfind(prefix, 0) == 0)
      tids.push_back(parse_pid(task.path().filename().string()).value_or(0));
  }
  return tids;
}

/// "1,2,3"
std::string list(const std::vector<Pid>& tids) {
  std::string text;
  for (const Pid tid : tids) text.append(text.empty() ? "" : ",").append(std::to_string(tid));
  return text;
}

}  // namespace

Result<std::string> Shim::obey(const std::string& command) {
  std::vector<std::string> argv;
  for (const auto word : words(command)) argv.emplace_back(word);
  if (argv.empty()) return fail(0, "no command");
  if (argv[0] == "status") return status();
  if (argv[0] == "threads") return threads();
  if (argv[0] == "hotplug") {
    if (!qmp_) return fail(0, "this VMM has no QMP");
    auto tid = qmp_->plug_vcpu();
    if (!tid) return forward(tid.error());
    return std::to_string(*tid);
  }
  if (auto done = act(argv); !done) return forward(done.error());
  return std::string();
}

Status Shim::act(const std::vector<std::string>& words) {
  const auto& verb = words[0];
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  if (verb == "die-first") return end({"die"});
  // Answered when all is gone: whoever asked need not wait for anything else.
  if (verb == "exit") tear_down();
  if (verb == "exit") return {};
  if (verb == "end") return end(rest);
  if (verb == "save") return save(state_.c_str());
  if (verb == "pullback-vcpus") return pull_back_vcpus();
  if (verb == "pullback-vmm") return pull_back_vmm();
  if (verb == "move-self") return move_self();
  if (verb == "make-groups") return make_groups();
  if (verb == "remove-groups") return group_.remove();
  if (verb == "kill-vmm") return kill_vmm();
  if (verb == "start-helper") return start_a_helper();
  if (rest.empty()) return fail(0, "{}: unknown command, or it needs more words; see --help", verb);
  if (verb == "create") return create_container(rest[0]);
  if (verb == "start") return set_state(rest[0], "running");
  if (verb == "stop") return set_state(rest[0], "stopped");
  if (verb == "update") return update_container(rest[0], {rest.begin() + 1, rest.end()});
  if (verb == "delete") return delete_container(rest[0]);
  if (verb == "cpuset") return group_.set_cpus(rest[0]);
  if (!qmp_) return fail(0, "{}: unknown command, or this VMM has no QMP", verb);
  if (verb == "fill-memory") return qmp_->fill_memory(parse_u64(rest[0]).value_or(0));
  if (verb == "open-device") return qmp_->open_device(rest[0]);
  return fail(0, "{}: unknown command, see --help", verb);
}

Status Shim::end(const std::vector<std::string>& steps) {
  for (const auto& step : steps) {
    Status done;
    if (step == "vmm") {
      done = kill_vmm();
    } else if (step == "leave") {
      done = group_.parent().attach_process(::getpid());
    } else if (step == "groups") {
      done = group_.remove();
      if (done && !options_.sandbox_cgroup_only) done = overhead_.remove();
    } else if (step == "state") {
      remove_directories(options_);
    } else if (step == "die") {
      ::_exit(0);
    } else {
      done = fail(0, "end {}: no such step, see --help", step);
    }
    if (!done) return done;
  }
  return {};
}

Result<std::string> Shim::threads() {
  auto vcpus = vcpu_threads();
  if (!vcpus) return forward(vcpus.error());
  const auto ios = qmp_ ? qmp_->io_threads() : Result<std::vector<Pid>>(named_threads(vmm_, "IO "));
  if (!ios) return forward(ios.error());
  return "vcpus=" + list(*vcpus) + " ios=" + list(*ios);
}

Result<std::string> Shim::status() {
  reap();
  return fmt::format("shim={} vmm={} helper={} group={}", ::getpid(), vmm_, helper_, group_.path());
}

Result<std::vector<Pid>> Shim::vcpu_threads() {
  if (qmp_) return qmp_->vcpu_threads();
  return named_threads(vmm_, "CPU ");
}

Status Shim::pull_back_vcpus() {
  auto tids = vcpu_threads();
  if (!tids) return forward(tids.error());
  for (const Pid tid : *tids)
    if (auto done = group_.attach_thread(tid); !done) return done;
  return {};
}

Status Shim::pull_back_vmm() { return group_.attach_process(vmm_); }

Status Shim::kill_vmm() {
  for (Pid* const pid : {&vmm_, &helper_}) {
    if (*pid == 0) continue;
    if (::kill(*pid, SIGKILL) != 0) return fail(errno, "kill {}: {}", *pid, errno_text(errno));
    while (::waitpid(*pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    *pid = 0;
  }
  qmp_.reset();
  return save("stopped");
}

}  // namespace kcg::standin
