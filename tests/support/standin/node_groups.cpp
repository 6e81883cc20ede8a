// SPDX-License-Identifier: Apache-2.0
#include "node_groups.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "base/text.hpp"
#include "processes.hpp"
#include "state.hpp"
#include "support/device_program.hpp"

namespace kcg::standin {

namespace {

constexpr std::chrono::milliseconds kLookAgain{50};
constexpr int kLooks = 2400;  // two minutes

/// "a-b.slice" -> "/a.slice/a-b.slice"
std::string slice_path(const std::string& slice) {
  std::string path;
  std::string name;
  const auto stem = slice.substr(0, slice.size() - std::string_view(".slice").size());
  for (const auto part : split(stem, '-')) {
    name.append(name.empty() ? "" : "-").append(part);
    path.append("/").append(name).append(".slice");
  }
  return path;
}

/// One that forbids a device that nobody has.
Status attach_device_rules(const std::string& directory) {
  constexpr std::uint32_t kNobodysMajor = 4095;
  try {
    const int code =
        test::attach_device_program(directory, test::load_device_program(kNobodysMajor, 0));
    if (code != 0) return fail(code, "device program on {}: {}", directory, errno_text(code));
    return {};
  } catch (const std::runtime_error& error) {
    return fail(0, "{}", error.what());
  }
}

}  // namespace

Result<NodeGroups> NodeGroups::find(const NodeSettings& settings, const std::string& sandbox,
                                    const std::string& cgroups_path, Log log) {
  auto mounts = find_mounts(settings.kata.hierarchy);
  if (!mounts) return forward(mounts.error());
  const KataGroup overhead(*mounts, settings.kata.overhead_root + "/" + sandbox);
  const auto parts = split(cgroups_path, ':');
  const bool systemd = parts.size() == 3 && parts[0].ends_with(".slice");
  if (!systemd) {
    auto path = kata_group_path(cgroups_path);
    if (!path) return forward(path.error());
    return NodeGroups(settings, {*mounts, *path}, overhead, cgroups_path, std::move(log));
  }
  // Kata's legacy way does not know slices: it makes a directory of this name at the top.
  const std::string slice(parts[0]);
  const auto unit = fmt::format("{}-{}.scope", parts[1], parts[2]);
  const auto path =
      settings.kata.sandbox_cgroup_only ? slice_path(slice) + "/" + unit : "/" + cgroups_path;
  NodeGroups groups(settings, {*mounts, path}, overhead, cgroups_path, std::move(log));
  groups.slice_ = slice;
  if (settings.kata.sandbox_cgroup_only) groups.unit_ = unit;
  return groups;
}

std::string NodeGroups::recorded_overhead() const {
  return settings_.kata.sandbox_cgroup_only ? "" : overhead_.path();
}

Status NodeGroups::make() const {
  if (own() == nullptr || !unit_.empty()) return {};
  if (auto done = own_.make(); !done) return done;
  if (slice_.empty())
    if (auto done = own_.enable("+cpuset +cpu"); !done) return done;
  if (settings_.device_rules)
    if (auto done = attach_device_rules(own_.directory()); !done) return done;
  return settings_.kata.sandbox_cgroup_only ? Status{} : overhead_.make();
}

Status NodeGroups::enter(Pid shim, Pid self) const {
  if (own() == nullptr) return {};
  if (!unit_.empty()) return start_scope(shim, self);
  const auto& group = settings_.kata.sandbox_cgroup_only ? own_ : overhead_;
  if (auto done = group.attach_process(shim); !done) return done;
  return group.attach_process(self);
}

bool NodeGroups::in_scope(Pid pid) const {
  std::ifstream file(fmt::format("/proc/{}/cgroup", pid));
  std::string line;
  std::getline(file, line);
  return line.find("/" + unit_) != std::string::npos;
}

// The scope is asked for with the processes that are to be in it; systemd moves them. While systemd
// executes itself anew it answers nobody, or does what it was asked and cannot say so any more.
Status NodeGroups::start_scope(Pid shim, Pid self) const {
  const std::vector<std::string> ask = {"/usr/bin/busctl",
                                        "-q",
                                        "call",
                                        "org.freedesktop.systemd1",
                                        "/org/freedesktop/systemd1",
                                        "org.freedesktop.systemd1.Manager",
                                        "StartTransientUnit",
                                        "ssa(sv)a(sa(sv))",
                                        unit_,
                                        "replace",
                                        "7",
                                        "Description",
                                        "s",
                                        "cgroup " + unit_,
                                        "DefaultDependencies",
                                        "b",
                                        "false",
                                        "MemoryAccounting",
                                        "b",
                                        "true",
                                        "CPUAccounting",
                                        "b",
                                        "true",
                                        "Slice",
                                        "s",
                                        slice_,
                                        "Delegate",
                                        "b",
                                        "true",
                                        "PIDs",
                                        "au",
                                        "2",
                                        std::to_string(shim),
                                        std::to_string(self),
                                        "0"};
  const auto inside = [&] { return in_scope(shim) && in_scope(self); };
  for (int look = 0; look < kLooks; ++look) {
    const auto asked = run(ask, {});
    if (!asked) return forward(asked.error());
    if (*asked || inside()) break;
    log_("asks systemd again");
    pause_for(kLookAgain);
  }
  for (int look = 0; look < kLooks; ++look) {
    if (inside()) return {};
    pause_for(kLookAgain);
  }
  return fail(ETIMEDOUT, "{}: systemd has not started it", unit_);
}

Status NodeGroups::require() const {
  if (own() == nullptr) return {};
  const auto file = own_.directory() + "/cgroup.procs";
  struct stat ignored;
  if (::stat(file.c_str(), &ignored) == 0) return {};
  return fail(ENOENT, "failed to create shim task: open {}: no such file", file);
}

void NodeGroups::remove() const {
  if (own() == nullptr || !unit_.empty()) return;  // an empty scope goes by itself
  if (auto done = own_.remove(); !done) log_(done.error().text);
  if (auto done = overhead_.remove(); !done) log_(done.error().text);
}

}  // namespace kcg::standin
