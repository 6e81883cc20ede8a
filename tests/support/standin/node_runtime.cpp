// SPDX-License-Identifier: Apache-2.0
#include "node_runtime.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "containers.hpp"
#include "following.hpp"
#include "node_home.hpp"
#include "processes.hpp"
#include "qmp.hpp"
#include "sockets.hpp"
#include "vmm.hpp"

namespace kcg::standin {

namespace {

constexpr unsigned kFirstGuestCid = 3;

/// What the VMM gets beside what every stand-in gives it.
std::vector<std::string> more_arguments(const NodeSettings& settings, const Options& kata) {
  std::ifstream file("/proc/sys/kernel/random/uuid");
  std::string uuid;
  std::getline(file, uuid);
  const auto number = std::strtoul(kata.id.substr(0, 7).c_str(), nullptr, 16);
  // Without what no guest here has a use for: on a busy node a VMM may have started before anybody
  // could place it, and what it has touched by then is to stay below what the daemon complains of.
  std::vector<std::string> argv = {
      "-machine", "acpi=off,sata=off",
      "-uuid",    uuid,
      "-device",  fmt::format("vhost-vsock-pci,guest-cid={}", number + kFirstGuestCid)};
  if (settings.paused) argv.emplace_back("-S");
  if (!kata.helper) return argv;
  argv.insert(
      argv.end(),
      {"-object",
       fmt::format("memory-backend-file,id=dimm1,size={}M,mem-path={},share=on", kata.memory_mib,
                   settings.hugepages ? "/dev/hugepages,prealloc=on" : "/dev/shm"),
       "-numa", "node,memdev=dimm1", "-chardev",
       fmt::format("socket,id=char-fs,path={}", places(kata).file_sharing()), "-device",
       "vhost-user-fs-pci,chardev=char-fs,tag=kataShared"});
  return argv;
}

}  // namespace

NodeRuntime::NodeRuntime(Call call, Record record, NodeSettings settings, NodeGroups groups)
    : call_(std::move(call)),
      id_(call_.word(1)),
      record_(std::move(record)),
      settings_(std::move(settings)),
      groups_(std::move(groups)),
      kata_(settings_.kata) {
  kata_.id = record_.sandbox;
  kata_.log_directory = home_of(record_.sandbox);
  kata_.vmm_arguments = more_arguments(settings_, kata_);
}

Result<NodeRuntime> NodeRuntime::open(const Call& call, Record record) {
  const auto texts = read_settings(home_of(record.sandbox) + "/settings");
  if (!texts) return forward(texts.error());
  auto settings = parse_settings(*texts);
  if (!settings) return forward(settings.error());
  auto sandbox = read_record(record.sandbox);
  if (!sandbox) return forward(sandbox.error());
  auto groups = NodeGroups::find(*settings, record.sandbox, sandbox->cgroups_path,
                                 [call](const std::string& text) { log_line(call, text); });
  if (!groups) return forward(groups.error());
  NodeRuntime runtime(call, std::move(record), std::move(*settings), std::move(*groups));
  runtime.kata_.bundle = sandbox->bundle;
  return runtime;
}

Result<NodeRuntime> NodeRuntime::find(const Call& call) {
  auto record = read_record(call.word(1));
  if (!record) return forward(record.error());
  return open(call, std::move(*record));
}

Result<NodeRuntime> NodeRuntime::make(const Call& call) {
  auto record = record_of_bundle(call.word(1), call.bundle);
  if (!record) return forward(record.error());
  if (auto done = write_record(call.word(1), *record); !done) return forward(done.error());
  if (record->sandbox == call.word(1)) {
    // Settings are for sandboxes that start later.
    const auto texts = read_settings(kSettingsFile);
    if (!texts) return forward(texts.error());
    const auto kept = write_settings(home_of(record->sandbox) + "/settings", *texts);
    if (!kept) return forward(kept.error());
  }
  return open(call, std::move(*record));
}

Result<Fd> NodeRuntime::lock() const {
  const auto path = home_of(record_.sandbox) + "/lock";
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  while (fd && ::flock(fd.get(), LOCK_EX) != 0)
    if (errno != EINTR) fd.reset();
  if (!fd) return fail(errno, "{}: {}", path, errno_text(errno));
  return fd;
}

Result<Saved> NodeRuntime::load() const {
  auto saved = load_state(kata_);
  if (!saved) return fail(ENOENT, "sandbox {} has no state", record_.sandbox);
  return std::move(*saved);
}

Status NodeRuntime::write_pid(Pid pid) const {
  for (const auto& path : {home_of(id_) + "/pid", call_.pid_file}) {
    if (path.empty()) continue;
    std::ofstream file(path);
    file << pid;
    if (!file.flush()) return fail(EIO, "{}: cannot write", path);
  }
  return {};
}

Status NodeRuntime::create() {
  if (auto done = write_shim_pid(record_.bundle, ::getppid()); !done) return done;
  return is_container() ? create_container() : create_sandbox();
}

Status NodeRuntime::create_sandbox() {
  if (auto done = make_directories(kata_); !done) return done;
  if (auto done = groups_.make(); !done) return done;
  log("enters its group");
  // The shim, and this part of it, of which QEMU is born.
  if (auto done = groups_.enter(::getppid(), ::getpid()); !done) return done;
  log("starts QEMU");
  if (auto done = start_vmm(); !done) {
    std::ifstream said(kata_.log_directory + "/qemu.log");
    const std::string text(std::istreambuf_iterator<char>(said), {});
    return forward(done.error(), text);
  }
  log("created");
  return {};
}

Status NodeRuntime::start_vmm() {
  Saved saved{"ready", groups_.recorded(), groups_.recorded_overhead()};
  Fd sharing;
  if (kata_.helper) {
    auto listening = listen_at(places(kata_).file_sharing());
    if (!listening) return forward(listening.error());
    sharing = std::move(*listening);
    const auto helper = start_helper(kata_, sharing);
    if (!helper) return forward(helper.error());
    saved.helper = *helper;
    sharing.reset();  // or nobody would notice that it dies
  }
  if (settings_.late_virtiofsd)
    if (auto waits = start_late_virtiofsd(); !waits) return waits;
  auto monitor = listen_at(places(kata_).qmp());
  if (!monitor) return forward(monitor.error());
  const auto vmm = standin::start_vmm(kata_, *monitor);
  if (!vmm) return forward(vmm.error());
  saved.vmm = *vmm;
  monitor->reset();
  if (auto done = write_pid(saved.vmm); !done) return done;
  if (auto ready = Qmp::connect(places(kata_).qmp()); !ready) return forward(ready.error());
  log("QEMU answers");
  if (auto done = resources_changed(saved); !done) return done;
  return save_state(kata_, saved);
}

Status NodeRuntime::start_late_virtiofsd() const {
  const auto sharing = listen_at(places(kata_).file_sharing());
  if (!sharing) return forward(sharing.error());
  const auto begins = kata_.log_directory + "/virtiofsd-begins";
  const auto helper = start_late_helper(kata_, *sharing, begins);
  return helper ? Status{} : forward(helper.error());
}

Status NodeRuntime::create_container() {
  if (auto done = groups_.require(); !done) return done;
  auto container = read_container(id_, record_.bundle);
  if (!container) return forward(container.error());
  const std::vector<std::string> argv =
      settings_.spinning_container
          ? std::vector<std::string>{"/bin/sh", "-c", "while :; do :; done"}
          : std::vector<std::string>{"/usr/bin/sleep", "infinity"};
  const auto process = spawn(argv, {-1, "/dev/null", false});
  if (!process) return forward(process.error());
  if (auto done = write_pid(*process); !done) return done;
  const auto alone = lock();
  auto saved = alone ? load() : Result<Saved>(forward(alone.error()));
  Status done = saved ? Status{} : forward(saved.error());
  if (done) saved->containers.push_back(std::move(*container));
  if (done) done = resources_changed(*saved);
  if (done) return save_state(kata_, *saved);
  (void)::kill(*process, SIGKILL);  // ignored: it may have ended
  return done;
}

Status NodeRuntime::start() {
  const auto alone = lock();
  if (!alone) return forward(alone.error());
  auto saved = load();
  if (!saved) return forward(saved.error());
  saved->state = "running";
  for (auto& container : saved->containers)
    if (container.id == id_) container.state = "running";
  return save_state(kata_, *saved);
}

Status NodeRuntime::update(const std::string& resources) {
  const auto alone = lock();
  if (!alone) return forward(alone.error());
  auto saved = load();
  if (!saved) return forward(saved.error());
  const auto container = find_container(saved->containers, id_);
  if (!container) return forward(container.error());
  if (auto done = merge_resources(**container, resources); !done) return done;
  if (auto done = resources_changed(*saved); !done) return done;
  return save_state(kata_, *saved);
}

Status NodeRuntime::remove() {
  if (const auto pid = read_pid(id_)) (void)::kill(*pid, SIGKILL);  // ignored: it may have ended
  if (!is_container()) {
    groups_.remove();  // Kata does not wait for QEMU's end
    remove_directories(kata_);
  } else if (has_directories(kata_)) {
    if (auto done = stop_container(); !done) return done;
    pause_for(settings_.delete_time);
    if (auto done = remove_container(); !done) return done;
  }
  pause_for(settings_.delete_time);  // only then the engine removes the bundle
  forget(id_);
  return {};
}

Status NodeRuntime::stop_container() {
  const auto alone = lock();
  if (!alone) return forward(alone.error());
  auto saved = load();
  if (!saved) return forward(saved.error());
  const auto container = find_container(saved->containers, id_);
  if (!container) return {};  // it could not be created
  (*container)->state = "stopped";
  return save_state(kata_, *saved);
}

Status NodeRuntime::remove_container() {
  const auto alone = lock();
  if (!alone) return forward(alone.error());
  auto saved = load();
  if (!saved) return forward(saved.error());
  const auto container = find_container(saved->containers, id_);
  if (!container) return {};
  saved->containers.erase(*container);
  forget_container(kata_, id_);
  const auto followed = resources_changed(*saved);
  const auto done = save_state(kata_, *saved);
  return followed ? done : followed;
}

Status NodeRuntime::resources_changed(const Saved& saved) {
  const auto* const group = groups_.own();
  const bool hold = group != nullptr && !kata_.sandbox_cgroup_only;
  std::vector<Pid> vcpus;
  if (hold || kata_.pinning) {  // asked for first: then there is no time for anything
    auto qmp = Qmp::connect(places(kata_).qmp());
    if (!qmp) return forward(qmp.error());
    auto tids = qmp->vcpu_threads();
    if (!tids) return forward(tids.error());
    vcpus = std::move(*tids);
  }
  const auto memory = home_of(record_.sandbox) + "/pinned";
  Pinning pinning(std::filesystem::exists(memory));
  auto done = follow_containers({group, hold, kata_.pinning ? &pinning : nullptr}, vcpus,
                                cpus_of(saved.containers));
  if (pinning.on()) std::ofstream(memory).flush();
  if (!pinning.on()) std::filesystem::remove(memory);
  if (hold) log("put QEMU back into " + group->directory());
  return done;
}

}  // namespace kcg::standin
