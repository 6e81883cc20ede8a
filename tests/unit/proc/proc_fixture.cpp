// SPDX-License-Identifier: Apache-2.0
#include "proc_fixture.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <fstream>
#include <stdexcept>

namespace kcg::test {

namespace fs = std::filesystem;

namespace {

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

/// All 52 fields of proc(5).
std::string text_of(Pid pid, const FakeStat& stat) {
  return fmt::format(
      "{} ({}) {} {} 1 1 0 -1 {} 0 0 0 0 {} {} 0 0 20 0 1 0 {} 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 "
      "0 0 0 {} 0 0 0 0 0 0 0 0 0\n",
      pid, stat.comm, stat.state, stat.ppid, stat.flags, stat.utime, stat.stime, stat.start,
      stat.guest);
}

}  // namespace

ProcFixture::ProcFixture() {
  const fs::path memory = "/dev/shm";  // quick, where there is one
  std::string name = (fs::exists(memory) ? memory : fs::path("/tmp")) / "kcg-proc-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
  top_ = name;
  fs::create_directories(top_ / "root");
  fs::create_directories(top_ / "other-root");
  fs::create_directories(top_ / "kvm");
  process(1, {.comm = "systemd", .ppid = 0, .start = 1});
  fs::create_directory_symlink("1", top_ / "proc/self");
}

ProcFixture::~ProcFixture() {
  std::error_code ignored;
  fs::remove_all(top_, ignored);
}

void ProcFixture::file(Pid pid, const std::string& name, const std::string& text) const {
  write(top_ / "proc" / std::to_string(pid) / name, text);
}

void ProcFixture::link(Pid pid, const std::string& name, const std::string& target) const {
  const auto path = top_ / "proc" / std::to_string(pid) / name;
  fs::create_directories(path.parent_path());
  fs::remove(path);
  fs::create_symlink(target, path);
}

void ProcFixture::remove(Pid pid, const std::string& name) const {
  fs::remove_all(top_ / "proc" / std::to_string(pid) / name);
}

void ProcFixture::stat(Pid pid, const FakeStat& stat) const {
  file(pid, "stat", text_of(pid, stat));
  file(pid, fmt::format("task/{}/stat", pid), text_of(pid, stat));
}

void ProcFixture::process(Pid pid, const FakeStat& what, const std::string& cmdline) const {
  stat(pid, what);
  file(pid, "status", "Name:\tx\nUid:\t0\t0\t0\t0\n");
  file(pid, "cmdline", cmdline);
  link(pid, "exe", "/usr/bin/qemu-system-x86_64");
  link(pid, "cwd", "/run");
  link(pid, "root", (top_ / "root").string());
  link(pid, "ns/pid", "pid:[1]");
  link(pid, "ns/user", "user:[2]");
}

void ProcFixture::thread(Pid pid, Pid tid, const FakeStat& what, const std::string& cgroup) const {
  file(pid, fmt::format("task/{}/stat", tid), text_of(tid, what));
  file(pid, fmt::format("task/{}/cgroup", tid), cgroup);
}

void ProcFixture::vcpu(const std::string& vm, unsigned n, const std::string& text) const {
  write(top_ / "kvm" / vm / fmt::format("vcpu{}", n) / "pid", text);
}

}  // namespace kcg::test
