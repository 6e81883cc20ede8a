// SPDX-License-Identifier: Apache-2.0
//
// FakeTree: device programs, with the rules and errnos of kernel/bpf/cgroup.c.
#include <algorithm>
#include <cerrno>

#include "support/fake_tree.hpp"

namespace kcg::test {

namespace {

constexpr std::uint32_t kOverride = 1;

/// hierarchy_allows_attach(): the nearest group above that has programs decides.
bool allowed_from_above(const FakeGroup& group) {
  for (const auto* up = group.parent; up != nullptr; up = up->parent) {
    if ((up->devices.flags & kSeveralPrograms) != 0) return true;
    if (!up->devices.programs.empty()) return (up->devices.flags & kOverride) != 0;
  }
  return true;
}

int attach_program(DevicePolicy& devices, const DeviceChange& change) {
  const bool several = (change.flags & kSeveralPrograms) != 0;
  auto& programs = devices.programs;
  if (!programs.empty() && devices.flags != change.flags) return EPERM;
  if (!several) programs.clear();
  if (std::find(programs.begin(), programs.end(), change.program) != programs.end()) return EINVAL;
  programs.insert(std::upper_bound(programs.begin(), programs.end(), change.program),
                  change.program);
  devices.flags = change.flags;
  return 0;
}

/// Where only one can be attached, whichever is named goes.
int detach_program(DevicePolicy& devices, const DeviceChange& change) {
  auto& programs = devices.programs;
  if (programs.empty()) return ENOENT;
  const bool several = (devices.flags & kSeveralPrograms) != 0;
  const auto it =
      several ? std::find(programs.begin(), programs.end(), change.program) : programs.begin();
  if (it == programs.end()) return ENOENT;
  programs.erase(it);
  if (programs.empty()) devices.flags = 0;
  return 0;
}

}  // namespace

Result<DevicePolicy> FakeTree::devices(const GroupRef& group) const {
  if (const int code = read_fault())
    return fail(code, "device programs of {}: {}", group.path.str(), errno_text(code));
  const FakeGroup* at = stale(group) ? nullptr : find(group);
  if (at == nullptr) return fail(ENOENT, "{}: no such group", group.path.str());
  if (!at->hierarchy->unified) return DevicePolicy{};
  if (devices_fault_ != 0)
    return fail(devices_fault_, "device programs of {}: {}", group.path.str(),
                errno_text(devices_fault_));
  return at->devices;
}

Status FakeTree::change_devices(const GroupRef& group, const DeviceChange& change) {
  const auto text = std::to_string(change.program);
  return perform({FakeWrite::Kind::device, group, change.attach ? "attach" : "detach", text, 0},
                 [&] { return change_now(group, change); });
}

int FakeTree::change_now(const GroupRef& group, const DeviceChange& change) {
  FakeGroup* at = find(group);
  if (at == nullptr || !programs_.contains(change.program)) return ENOENT;
  if (!at->hierarchy->unified) return EBADF;
  if (!change.attach) return detach_program(at->devices, change);
  return allowed_from_above(*at) ? attach_program(at->devices, change) : EPERM;
}

std::uint32_t FakeTree::load_device_program() {
  const auto id = programs_.empty() ? 100 : *programs_.rbegin() + 1;
  programs_.insert(id);
  return id;
}

}  // namespace kcg::test
