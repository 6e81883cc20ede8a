// SPDX-License-Identifier: Apache-2.0
//
// One inotify descriptor in the loop (L6, internal to watch/).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "daemon/loop.hpp"
#include "daemon/watch/paced_fd.hpp"

namespace kcg {

/// Resource: see the head of the file. Adding a path whose inode is watched already returns the
/// same watch and replaces its mask: that is the kernel's rule.
class Inotify final {
 public:
  /// `name` is the entry within a watched directory, "" for the watched object itself. wd -1 with
  /// IN_Q_OVERFLOW: events were lost.
  using Handler = std::function<void(int wd, std::uint32_t mask, std::string_view name)>;
  /// All that was read in this turn has been handled.
  using Handled = std::function<void()>;

  Inotify(Loop& loop, Handler handler, Handled handled = [] {});
  Inotify(const Inotify&) = delete;
  Inotify& operator=(const Inotify&) = delete;
  ~Inotify() = default;

  /// The descriptor itself is made by the first watch, so that a machine that has none left at the
  /// start is an error like any other here. ENOENT: no such file. ENOSPC:
  /// fs.inotify.max_user_watches is reached. EMFILE: no descriptor, or
  /// fs.inotify.max_user_instances.
  [[nodiscard]] Result<int> add(const std::string& path, std::uint32_t mask);
  void remove(int wd);
  /// Handles what is there, not only when it is its turn.
  void hear();

 private:
  [[nodiscard]] Status open();
  Heard read_events();

  Fd fd_;
  Handler handler_;
  Handled handled_;
  PacedFd paced_;
  bool deaf_ = false;  ///< the loop had no room to listen again
};

}  // namespace kcg
