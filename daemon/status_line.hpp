// SPDX-License-Identifier: Apache-2.0
//
// The one line about the daemon that systemd keeps and `systemctl status` shows (L9). It hears what
// is published on its way to the bus, so that nothing is counted twice.
#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <string>

#include "daemon/loop.hpp"
#include "daemon/manager.hpp"

namespace kcg {

/// Value: what the line is made of.
struct StatusCounts {
  std::size_t sandboxes = 0;
  std::size_t degraded = 0;  ///< those of them with a warning or an error
  std::size_t problems = 0;  ///< of the daemon itself
};

/// "3 sandboxes, 1 degraded", and where to look if the daemon itself is in trouble.
[[nodiscard]] std::string status_text(const StatusCounts& counts);

/// Resource: see the head of the file.
class StatusLine final : public Publisher {
 public:
  using Tell = std::function<void(const std::string& text)>;

  /// `tell` hears the line when it has changed, at most once in `pause`; `problems` counts.
  StatusLine(Loop& loop, std::function<std::size_t()> problems, Tell tell,
             Instant pause = std::chrono::seconds(1));

  /// Who hears everything, too; may be null.
  void set_next(Publisher* next) { next_ = next; }
  /// The line as it is now, which somebody else tells.
  [[nodiscard]] std::string take();

  void added(const SandboxView& view) override;
  void removed(const std::string& id) override;
  void changed(const SandboxView& before, const SandboxView& after) override;
  void happened(const SandboxHistory& one) override;
  void problems_changed() override;

 private:
  void count(const SandboxView& view);
  void later();
  void tell();

  Loop& loop_;
  std::function<std::size_t()> problems_;
  Tell tell_;
  Instant pause_;
  Publisher* next_ = nullptr;
  std::size_t sandboxes_ = 0;
  std::set<std::string> degraded_;  ///< ids
  std::string told_;
  Source timer_;
};

}  // namespace kcg
