// SPDX-License-Identifier: Apache-2.0
#include "support/live/sandbox.hpp"

#include <signal.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <random>

#include "base/text.hpp"
#include "standin/sockets.hpp"
#include "support/live/kernel.hpp"
#include "support/live/must.hpp"
#include "support/live/programs.hpp"
#include "support/live/wait.hpp"

namespace kcg::live {

namespace {

std::string random_id() {
  std::random_device random;
  std::string id;
  for (int i = 0; i < 8; ++i) id += fmt::format("{:08x}", random());
  return id;
}

/// "a=1 b=2,3" -> the value of one key.
std::string value_of(const std::string& text, const std::string& key) {
  for (const auto word : words(text))
    if (word.rfind(key + "=", 0) == 0) return std::string(word.substr(key.size() + 1));
  return {};
}

std::set<int> numbers(const std::string& list) {
  std::set<int> found;
  for (const auto part : split(list, ','))
    if (const auto number = parse_pid(part)) found.insert(*number);
  return found;
}

/// When a vCPU first runs, KVM gives the VMM one more thread (Linux 6.4 and newer).
bool kvm_adds_a_thread() {
  struct utsname host = {};
  int major = 0, minor = 0;
  if (::uname(&host) != 0 || std::sscanf(host.release, "%d.%d", &major, &minor) != 2) return false;
  const bool new_enough = major > 6 || (major == 6 && minor >= 4);
  return new_enough && kvm_works() &&
         slurp_line("/sys/module/kvm/parameters/nx_huge_pages") != "never";
}

bool has_all_threads(int vmm) {
  const auto threads = threads_of(vmm);
  return threads.empty() || std::any_of(threads.begin(), threads.end(), [](const Seen& thread) {
           return thread.comm == "kvm-nx-lpage-re";
         });
}

}  // namespace

Sandbox::Sandbox(const Corner& corner, const std::string& run_root, SandboxSpec spec)
    : corner_(corner), run_root_(run_root), spec_(std::move(spec)) {
  if (spec_.id.empty()) spec_.id = random_id();
  // Without KVM nothing else tells its threads apart.
  const bool kvm = kvm_works() && (!spec_.light || spec_.standin.contains("KVM"));
  if (!kvm) spec_.names = true;
  pod_ = corner.top() + "/kubepods/burstable/" + spec_.pod;
  corner.make(pod_);
  write_files();
}

Sandbox::~Sandbox() {
  if (!shim_) return;
  shim_->signal(SIGTERM);                      // ends the VMM, too
  (void)shim_->wait(std::chrono::seconds(5));  // ignored: its group is killed in the end anyway
}

Command Sandbox::shim_command() const {
  Command command;
  command.argv = {shim_program(),
                  "-namespace",
                  "k8s.io",
                  "-address",
                  run_root_ + "/run/containerd/containerd.sock",
                  "-publish-binary",
                  "",
                  "-id",
                  spec_.id};
  command.directory = bundle();
  command.groups = corner_.system();
  command.output = run_root_ + "/shims.log";
  command.environment = {{"STANDIN_RUN_ROOT", run_root_},
                         {"STANDIN_HIERARCHY", corner_.tree() == Tree::v1 ? "v1" : "v2"},
                         {"STANDIN_OVERHEAD_ROOT", corner_.top() + "/kata_overhead"},
                         {"STANDIN_VCPUS", std::to_string(spec_.vcpus)},
                         {"STANDIN_THREAD_NAMES", spec_.names ? "1" : "0"}};
  if (spec_.light) {
    command.environment["STANDIN_VMM"] = light_vmm();
    command.environment["STANDIN_QMP"] = "0";
    command.environment["STANDIN_THREADS"] = "1";
  }
  for (const auto& [name, value] : spec_.standin) command.environment["STANDIN_" + name] = value;
  return command;
}

void Sandbox::start() { shim_.emplace(Child::start(shim_command())); }

std::string Sandbox::ask(const std::string& command) const {
  const auto socket = run_root_ + "/run/vc/sbs/" + spec_.id + "/shim-monitor.sock";
  if (!wait_until([&] { return exists(socket); })) {
    const auto proc = fmt::format("/proc/{}", shim_ ? shim_->pid() : 0);
    throw std::runtime_error(fmt::format(
        "the shim stand-in did not start. What is left of it:\n{}\n{}\nWhat it said:\n{}",
        slurp(proc + "/status"), slurp(proc + "/stack"), slurp(run_root_ + "/shims.log")));
  }
  return must(standin::ask(socket, command), "shim stand-in");
}

Truth Sandbox::truth() const {
  const auto status = ask("status");
  Truth truth;
  truth.shim = parse_pid(value_of(status, "shim")).value_or(0);
  truth.vmm = parse_pid(value_of(status, "vmm")).value_or(0);
  if (const auto helper = parse_pid(value_of(status, "helper"))) {
    truth.helpers = children_of(*helper);
    truth.helpers.push_back(*helper);
  }
  if (truth.vmm == 0) return truth;
  const auto complete = [&] {
    const auto threads = ask("threads");
    const bool nameless = spec_.light && !spec_.names;  // it tells by its threads' names
    truth.vcpus = nameless ? kvms_vcpus(truth.vmm) : numbers(value_of(threads, "vcpus"));
    truth.ios = numbers(value_of(threads, "ios"));
    // QEMU answers when it has its threads; the light one has no way to say so.
    const bool all = truth.vcpus.size() >= static_cast<std::size_t>(spec_.vcpus);
    return !spec_.light || (all && (nameless || !truth.ios.empty())) || !alive(truth.vmm);
  };
  if (!wait_until(complete)) throw std::runtime_error("the light VMM does not start its threads");
  const auto accel = spec_.standin.find("ACCEL");
  const bool kvm = !spec_.light && (accel == spec_.standin.end() || accel->second == "kvm");
  if (kvm && kvm_adds_a_thread() && !wait_until([&] { return has_all_threads(truth.vmm); }))
    throw std::runtime_error("the VMM's vCPUs do not run");
  return truth;
}

void Sandbox::end() {
  ask("exit");
  (void)shim_->wait(kPatience);  // ignored: what is left of it is looked for by the test
  remove_files();
}

void Sandbox::write_files() const {
  write_bundle(run_root_, {spec_.id, spec_.id, pod_ + "/" + spec_.id, shim_program(),
                           spec_.annotations, std::nullopt});
}

void Sandbox::run_container(const ContainerSpec& container) const {
  write_bundle(run_root_, {container.id, spec_.id, pod_ + "/" + container.id, "", {}, container});
  for (const char* const verb : {"create ", "start "}) ask(verb + container.id);
}

void Sandbox::end_container(const std::string& id) const {
  for (const char* const verb : {"stop ", "delete "}) ask(verb + id);
  remove_bundle(run_root_, id);
}

void Sandbox::remove_files() const { remove_bundle(run_root_, spec_.id); }

}  // namespace kcg::live
