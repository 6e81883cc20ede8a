// SPDX-License-Identifier: Apache-2.0
#include "vmm.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "guest.hpp"

namespace kcg::standin {

namespace {

/// Value: what a child gets beside its arguments.
struct Surroundings {
  int descriptor_3 = -1;
  std::string output;  ///< "": as ours
  bool own_group = false;
};

/// A child with every signal unblocked again.
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

bool use_kvm(const std::string& accel) {
  return accel == "kvm" || (accel == "auto" && Fd(::open("/dev/kvm", O_RDWR | O_CLOEXEC)).valid());
}

Result<std::string> write_firmware(const Options& o) {
  const auto path = places(o).vm + "/firmware";
  std::ofstream file(path, std::ios::binary);
  file << firmware(o.guest);
  if (!file.flush()) return fail(EIO, "{}: cannot write the guest's firmware", path);
  return path;
}

}  // namespace

Places places(const Options& o) {
  const auto run = o.run_root + "/run/";
  return {run + "vc/sbs/" + o.id, run + "vc/vm/" + o.id,
          run + "kata-containers/shared/sandboxes/" + o.id};
}

Result<Pid> start_helper(const Options& o) {
  return spawn(
      {o.helper_program, "--syslog", "--cache=auto", "--shared-dir=" + places(o).shared + "/shared",
       "--fd=3", "--thread-pool-size=1", "--announce-submounts"},
      {});
}

Result<Pid> start_vmm(const Options& o, const Fd& qmp) {
  const auto kvm = use_kvm(o.accel);
  std::vector<std::string> argv = {
      o.vmm,
      "-name",
      "sandbox-" + o.id + (o.thread_names ? ",debug-threads=on" : ""),
      "-machine",
      kvm ? "q35,accel=kvm" : "q35,accel=tcg",
      "-cpu",
      kvm ? "host,pmu=off,-arch-capabilities" : "qemu64",
      "-m",
      "128M",
      "-no-user-config",
      "-nodefaults",
      "-nographic",
      "--no-reboot",
      "-object",
      "iothread,id=io0",
      "-pidfile",
      places(o).pid_file(),
      "-smp",
      fmt::format("{},cores=1,threads=1,sockets={},maxcpus={}", o.vcpus, o.max_vcpus, o.max_vcpus)};
  if (o.qmp) argv.insert(argv.end(), {"-qmp", "unix:fd=3,server=on,wait=off"});
  if (o.qmp && o.guest != Guest::bios) {
    auto image = write_firmware(o);
    if (!image) return forward(image.error());
    argv.insert(argv.end(), {"-bios", *image});
  }
  argv.insert(argv.end(), o.vmm_arguments.begin(), o.vmm_arguments.end());
  return spawn(argv, {o.qmp ? qmp.get() : -1, "", false});
}

Result<Pid> start_shim(const Options& o) {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return fail(failed.value(), "/proc/self/exe: {}", failed.message());
  return spawn(
      {self, "-namespace", o.ns, "-address", o.address, "-publish-binary", "", "-id", o.id},
      {-1, o.bundle + "/log", true});
}

}  // namespace kcg::standin
