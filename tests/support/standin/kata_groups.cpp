// SPDX-License-Identifier: Apache-2.0
#include "kata_groups.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <string_view>

#include "base/fd.hpp"
#include "base/text.hpp"

namespace kcg::standin {

namespace {

constexpr std::array<std::string_view, 8> kManaged = {"cpu",   "cpuacct", "cpuset",  "memory",
                                                      "blkio", "pids",    "hugetlb", "perf_event"};

bool has(const Mount& mount, std::string_view controller) {
  return std::find(mount.controllers.begin(), mount.controllers.end(), controller) !=
         mount.controllers.end();
}

Mount v1_mount(const std::string& path, std::string_view super_options) {
  Mount mount{path, {}, false};
  for (const auto option : split(super_options, ','))
    if (std::find(kManaged.begin(), kManaged.end(), option) != kManaged.end())
      mount.controllers.emplace_back(option);
  return mount;
}

Status write_file(const std::string& path, const std::string& text) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (fd && ::write(fd.get(), text.data(), text.size()) >= 0) return {};
  const int code = errno;
  return fail(code, "{}={}: {}", path, text, errno_text(code));
}

std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

Status make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST) return {};
  const int code = errno;
  return fail(code, "mkdir {}: {}", path, errno_text(code));
}

/// An empty cpuset refuses every attach.
Status seed_cpuset(const std::string& directory) {
  for (const char* const file : {"/cpuset.cpus", "/cpuset.mems"}) {
    if (!read_line(directory + file).empty()) continue;
    const auto parent = directory.substr(0, directory.rfind('/'));
    if (auto done = write_file(directory + file, read_line(parent + file)); !done) return done;
  }
  return {};
}

}  // namespace

Result<std::vector<Mount>> find_mounts(const std::string& choice) {
  std::ifstream mountinfo("/proc/self/mountinfo");
  std::vector<Mount> v1;
  std::vector<Mount> v2;
  for (std::string line; std::getline(mountinfo, line);) {
    const auto fields = words(line);
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (fields.size() < 5 || std::distance(dash, fields.end()) < 4) continue;
    const std::string path(fields[4]);
    if (dash[1] == "cgroup2") v2.push_back({path, {}, true});
    if (dash[1] != "cgroup") continue;
    if (auto mount = v1_mount(path, dash[3]); !mount.controllers.empty()) v1.push_back(mount);
  }
  const bool memory =
      std::any_of(v1.begin(), v1.end(), [](const Mount& m) { return has(m, "memory"); });
  const bool wants_v1 = choice == "v1" || (choice == "auto" && memory);
  auto& found = wants_v1 ? v1 : v2;
  if (found.empty()) return fail(ENOENT, "no cgroup {} is mounted", wants_v1 ? "v1" : "v2");
  if (!wants_v1) found.resize(1);
  return found;
}

Status KataGroup::make() const {
  for (const auto& mount : mounts_) {
    std::string directory = mount.path;
    for (const auto part : split(std::string_view(path_).substr(1), '/')) {
      directory.append("/").append(part);
      if (auto done = make_directory(directory); !done) return done;
      if (!has(mount, "cpuset")) continue;
      if (auto done = seed_cpuset(directory); !done) return done;
    }
  }
  return {};
}

Status KataGroup::remove() const {
  for (const auto& mount : mounts_) {
    const auto directory = mount.path + path_;
    if (::rmdir(directory.c_str()) == 0 || errno == ENOENT) continue;
    const int code = errno;
    return fail(code, "rmdir {}: {}", directory, errno_text(code));
  }
  return {};
}

Status KataGroup::write_all(const char* file, const std::string& text) const {
  for (const auto& mount : mounts_)
    if (auto done = write_file(mount.path + path_ + "/" + file, text); !done) return done;
  return {};
}

Status KataGroup::attach_process(Pid pid) const {
  return write_all("cgroup.procs", std::to_string(pid));
}

Status KataGroup::attach_thread(Pid tid) const {
  return write_all(unified() ? "cgroup.procs" : "tasks", std::to_string(tid));
}

Status KataGroup::enable(const std::string& controllers) const {
  return write_file(parent().directory() + "/cgroup.subtree_control", controllers);
}

Status KataGroup::set_cpus(const std::string& list) const {
  for (const auto& mount : mounts_)
    if (mount.unified || has(mount, "cpuset"))
      return write_file(mount.path + path_ + "/cpuset.cpus", list);
  return fail(ENOENT, "no cpuset controller is mounted");
}

KataGroup KataGroup::parent() const { return {mounts_, path_.substr(0, path_.rfind('/'))}; }

}  // namespace kcg::standin
