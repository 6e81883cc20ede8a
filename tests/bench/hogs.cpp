// SPDX-License-Identifier: Apache-2.0
#include "hogs.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <thread>

#include "support/live/groups.hpp"
#include "support/live/kernel.hpp"
#include "support/live/wait.hpp"

namespace kcg::bench {

namespace {

constexpr unsigned kDefaultWeight = 100;
constexpr unsigned kUnitsWeight = 1000;  ///< CPUWeight= of systemd/kata-cgroupd.service.in
constexpr unsigned kDefaultShares = 1024;

std::string cpu_hierarchy() {
  for (const auto& mount : live::mounts_of("v1"))
    if (std::count(mount.controllers.begin(), mount.controllers.end(), "cpu") != 0)
      return mount.path;
  throw std::runtime_error("hogs need the cpu controller in a v1 hierarchy");
}

void put(const std::string& file, const std::string& text) {
  if (const int code = live::scribble(file, text); code != 0)
    throw std::runtime_error("hogs: " + file + "=" + text + ": " + errno_text(code));
}

std::string make(const std::string& directory, unsigned weight) {
  ::mkdir(directory.c_str(), 0755);
  put(directory + "/cpu.shares", std::to_string(weight * kDefaultShares / kDefaultWeight));
  return directory;
}

live::Child hog(const std::string& group) {
  live::Command command;
  command.argv = {"/bin/sh", "-c", "while :; do :; done"};
  command.groups = {group};
  command.before_exec = [] { ::prctl(PR_SET_PDEATHSIG, SIGKILL); };
  return live::Child::start(command);
}

}  // namespace

Hogs::Hogs(int daemon, Share share)
    : cpu_(cpu_hierarchy()),
      slice_(fmt::format("{}/kcg-bench-{}.slice", cpu_, ::getpid())),
      daemon_(daemon) {
  make(slice_, kDefaultWeight);
  const auto hogs = make(slice_ + "/hogs.service", kDefaultWeight);
  if (share == Share::of_a_service)
    daemons_ = make(slice_ + "/daemon.service", kDefaultWeight);
  else  // Slice=-.slice
    daemons_ = make(fmt::format("{}/kcg-bench-{}.service", cpu_, ::getpid()), kUnitsWeight);
  put(daemons_ + "/cgroup.procs", std::to_string(daemon));
  for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i) hogs_.push_back(hog(hogs));
}

Hogs::~Hogs() {
  hogs_.clear();
  (void)live::scribble(cpu_ + "/cgroup.procs", std::to_string(daemon_));  // ignored: it may be gone
  for (const auto& group : {daemons_, slice_ + "/hogs.service", slice_})
    // ignored: an empty group is all that can be left
    (void)live::wait_until([&] { return ::rmdir(group.c_str()) == 0; });
}

}  // namespace kcg::bench
