// SPDX-License-Identifier: Apache-2.0
#include "vmm.hpp"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "guest.hpp"
#include "processes.hpp"

namespace kcg::standin {

namespace {

bool use_kvm(const std::string& accel) {
  return accel == "kvm" || (accel == "auto" && Fd(::open("/dev/kvm", O_RDWR | O_CLOEXEC)).valid());
}

Result<std::string> write_firmware(const Options& o) {
  const auto path = places(o).vm + "/firmware";
  std::ofstream file(path, std::ios::binary);
  file << firmware(o.guest, o.memory_mib);
  if (!file.flush()) return fail(EIO, "{}: cannot write the guest's firmware", path);
  return path;
}

std::string log_file(const Options& o, const char* name) {
  return o.log_directory.empty() ? "" : fmt::format("{}/{}", o.log_directory, name);
}

std::vector<std::string> helper_command(const Options& o) {
  return {o.helper_program,
          "--syslog",
          "--cache=auto",
          "--shared-dir=" + places(o).shared + "/shared",
          "--fd=3",
          "--thread-pool-size=1",
          "--announce-submounts"};
}

}  // namespace

Places places(const Options& o) {
  const auto run = o.run_root + "/run/";
  return {run + "vc/sbs/" + o.id, run + "vc/vm/" + o.id,
          run + "kata-containers/shared/sandboxes/" + o.id};
}

Result<Pid> start_helper(const Options& o, const Fd& socket) {
  return spawn(helper_command(o), {socket.get(), log_file(o, "virtiofsd.log"), false});
}

Result<Pid> start_late_helper(const Options& o, const Fd& socket, const std::string& at) {
  std::vector<std::string> argv = {"/bin/sh", "-c",
                                   "until [ -e \"$0\" ]; do sleep 0.1; done; exec \"$@\"", at};
  for (auto& word : helper_command(o)) argv.push_back(std::move(word));
  return spawn(argv, {socket.get(), log_file(o, "virtiofsd.log"), false});
}

Result<Pid> start_vmm(const Options& o, const Fd& qmp) {
  const auto kvm = use_kvm(o.accel);
  // An emulator would map 1 GiB for what it has translated: more than the guest's RAM.
  const char* const accel = kvm ? "kvm" : "tcg,tb-size=16";
  std::vector<std::string> argv = {
      o.vmm,
      "-name",
      "sandbox-" + o.id + (o.thread_names ? ",debug-threads=on" : ""),
      "-machine",
      "q35",
      "-accel",
      accel,
      "-cpu",
      kvm ? "host,pmu=off,-arch-capabilities" : "qemu64",
      "-m",
      fmt::format("{}M", o.memory_mib),
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
  if (o.prealloc)
    argv.insert(
        argv.end(),
        {"-object", fmt::format("memory-backend-ram,id=dimm1,size={}M,prealloc=on", o.memory_mib),
         "-numa", "node,memdev=dimm1"});
  argv.insert(argv.end(), o.vmm_arguments.begin(), o.vmm_arguments.end());
  return spawn(argv, {o.qmp ? qmp.get() : -1, log_file(o, "qemu.log"), false});
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
