// SPDX-License-Identifier: Apache-2.0
#include "daemon/status_line.hpp"

#include <fmt/format.h>

#include <utility>

namespace kcg {

std::string status_text(const StatusCounts& counts) {
  auto text = fmt::format("{} sandbox{}, {} degraded", counts.sandboxes,
                          counts.sandboxes == 1 ? "" : "es", counts.degraded);
  if (counts.problems > 0)
    text += fmt::format("; {} problem{} of the daemon's own: see 'cgctl status'", counts.problems,
                        counts.problems == 1 ? "" : "s");
  return text;
}

StatusLine::StatusLine(Loop& loop, std::function<std::size_t()> problems, Tell tell, Instant pause)
    : loop_(loop), problems_(std::move(problems)), tell_(std::move(tell)), pause_(pause) {}

std::string StatusLine::take() {
  told_ = status_text({sandboxes_, degraded_.size(), problems_()});
  return told_;
}

void StatusLine::added(const SandboxView& view) {
  ++sandboxes_;
  count(view);
  if (next_ != nullptr) next_->added(view);
}

void StatusLine::removed(const std::string& id) {
  --sandboxes_;
  degraded_.erase(id);
  later();
  if (next_ != nullptr) next_->removed(id);
}

void StatusLine::changed(const SandboxView& before, const SandboxView& after) {
  count(after);
  if (next_ != nullptr) next_->changed(before, after);
}

void StatusLine::happened(const SandboxHistory& one) {
  if (next_ != nullptr) next_->happened(one);
}

void StatusLine::problems_changed() {
  later();
  if (next_ != nullptr) next_->problems_changed();
}

void StatusLine::count(const SandboxView& view) {
  if (view.state == SandboxState::degraded)
    degraded_.insert(view.id);
  else
    degraded_.erase(view.id);
  later();
}

/// A timer that cannot be had costs nothing but the line's being old until the next change.
void StatusLine::later() {
  if (timer_ || told_.empty()) return;
  auto timer = loop_.at(SystemClock().now() + pause_, [this] { tell(); });
  if (timer) timer_ = std::move(*timer);
}

void StatusLine::tell() {
  timer_ = Source();
  const auto before = told_;
  if (take() != before) tell_(told_);
}

}  // namespace kcg
