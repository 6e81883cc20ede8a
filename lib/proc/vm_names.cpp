// SPDX-License-Identifier: Apache-2.0
#include "proc/vm_names.hpp"

#include <fmt/format.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.hpp"

namespace kcg {

namespace {

/// More than the kernel keeps for who does not read (fs.inotify.max_queued_events).
constexpr unsigned kMostReads = 64;
constexpr std::size_t kBuffer = std::size_t{16} << 10;

/// "<tid>-<fd>"; beside such directories stand statistics of all VMs.
bool names_vm(std::string_view name) {
  const auto dash = name.find('-');
  return dash != std::string_view::npos && parse_pid(name.substr(0, dash));
}

}  // namespace

Status VmNames::refresh(const Dir& kvm) {
  const auto found = kvm.stamp();
  if (!found) return forward(found.error());
  const FileId directory{found->device, found->inode};
  const bool same = std::exchange(watched_, std::nullopt) == directory;
  if (!same || !hear()) {
    watch(kvm);  // first: what comes while it is listed is heard of
    if (auto done = list(kvm); !done) return done;
  }
  watched_ = directory;
  return {};
}

/// False: not all that happened is known, or there is no descriptor to read.
bool VmNames::hear() {
  alignas(inotify_event) std::array<char, kBuffer> buffer;
  for (unsigned reads = 0; reads < kMostReads; ++reads) {
    const ssize_t size = ::read(events_.get(), buffer.data(), buffer.size());
    if (size <= 0) return size < 0 && errno == EAGAIN;
    for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const char* name = buffer.data() + at + sizeof event;
      at += sizeof event + event.len;
      if (!take(event.mask, event.len == 0 ? std::string_view() : std::string_view(name)))
        return false;
    }
  }
  return false;
}

bool VmNames::take(std::uint32_t mask, std::string_view name) {
  if ((mask & (IN_CREATE | IN_DELETE)) == 0) return false;  // lost, or the end of what was watched
  if (!names_vm(name)) return true;
  // Deleted, or deleted and made again: whoever claimed it did not mean this one.
  names_.erase(std::string(name));
  unclaimed_.erase(std::string(name));
  if ((mask & IN_CREATE) == 0) return true;
  names_.emplace(name, false);
  unclaimed_.emplace(name);
  return true;
}

void VmNames::watch(const Dir& kvm) {
  events_ = Fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  const auto path = fmt::format("/proc/self/fd/{}", kvm.fd());
  if (events_ && ::inotify_add_watch(events_.get(), path.c_str(), IN_CREATE | IN_DELETE) < 0)
    events_ = Fd();
}

Status VmNames::list(const Dir& kvm) {
  ++listed_;
  const auto entries = kvm.list();
  if (!entries) return forward(entries.error());
  const auto before = std::exchange(names_, {});
  unclaimed_.clear();
  for (const auto& entry : *entries) {
    if (!names_vm(entry.name)) continue;
    const auto known = before.find(entry.name);
    const bool claimed = known != before.end() && known->second;
    names_.emplace(entry.name, claimed);
    if (!claimed) unclaimed_.insert(entry.name);
  }
  return {};
}

std::optional<std::string> VmNames::made_by(Pid tid) const {
  const auto prefix = fmt::format("{}-", tid);
  const auto found = names_.lower_bound(prefix);
  if (found == names_.end() || !found->first.starts_with(prefix)) return std::nullopt;
  return found->first;
}

std::vector<std::string> VmNames::unclaimed(std::size_t most) {
  std::vector<std::string> found;
  auto next = unclaimed_.upper_bound(last_);
  for (std::size_t left = std::min(most, unclaimed_.size()); left > 0; --left) {
    if (next == unclaimed_.end()) next = unclaimed_.begin();
    found.push_back(*next++);
  }
  if (!found.empty()) last_ = found.back();
  return found;
}

void VmNames::claim(const std::string& name) {
  const auto known = names_.find(name);
  if (known == names_.end()) return;
  known->second = true;
  unclaimed_.erase(name);
}

void VmNames::release(const std::string& name) {
  const auto known = names_.find(name);
  if (known == names_.end()) return;
  known->second = false;
  unclaimed_.insert(name);
}

}  // namespace kcg
