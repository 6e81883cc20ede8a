// SPDX-License-Identifier: Apache-2.0
//
// One inotify descriptor in the loop (L6, internal to watch/).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "daemon/loop.hpp"

namespace kcg {

/// Resource: see the head of the file. Adding a path whose inode is watched already returns the
/// same watch and replaces its mask: that is the kernel's rule.
class Inotify final {
 public:
  /// `name` is the entry within a watched directory, "" for the watched object itself. wd -1 with
  /// IN_Q_OVERFLOW: events were lost.
  using Handler = std::function<void(int wd, std::uint32_t mask, std::string_view name)>;

  [[nodiscard]] static Result<std::unique_ptr<Inotify>> create(Loop& loop, Handler handler);

  /// ENOENT: no such file. ENOSPC: fs.inotify.max_user_watches is reached.
  [[nodiscard]] Result<int> add(const std::string& path, std::uint32_t mask);
  void remove(int wd);

 private:
  Inotify(Fd fd, Handler handler) : fd_(std::move(fd)), handler_(std::move(handler)) {}
  void read_events();

  Fd fd_;
  Handler handler_;
  Source source_;
};

}  // namespace kcg
