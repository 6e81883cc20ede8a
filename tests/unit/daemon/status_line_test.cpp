// SPDX-License-Identifier: Apache-2.0
//
// The line of `systemctl status`: right, and rarely told.
#include "daemon/status_line.hpp"

#include <gtest/gtest.h>
#include <systemd/sd-event.h>

namespace kcg::test {
namespace {

TEST(StatusText, CountsAndPointsOut) {
  const struct {
    StatusCounts counts;
    const char* text;
  } rows[] = {
      {{0, 0, 0}, "0 sandboxes, 0 degraded"},
      {{1, 0, 0}, "1 sandbox, 0 degraded"},
      {{12, 3, 0}, "12 sandboxes, 3 degraded"},
      {{2, 0, 1}, "2 sandboxes, 0 degraded; 1 problem of the daemon's own: see 'cgctl status'"},
      {{2, 1, 2}, "2 sandboxes, 1 degraded; 2 problems of the daemon's own: see 'cgctl status'"},
  };
  for (const auto& row : rows) EXPECT_EQ(status_text(row.counts), row.text);
}

/// Hears what is published behind the line.
class Behind final : public Publisher {
 public:
  void added(const SandboxView& view) override { heard += "+" + view.id; }
  void removed(const std::string& id) override { heard += "-" + id; }
  void changed(const SandboxView&, const SandboxView& after) override { heard += "~" + after.id; }
  void happened(const SandboxHistory& one) override { heard += "*" + one.id; }
  void problems_changed() override { heard += "!"; }
  std::string heard;
};

class StatusLines : public ::testing::Test {
 protected:
  /// Until something was told.
  void wait() {
    const auto before = told_.size();
    while (told_.size() == before) ASSERT_GT(::sd_event_run(loop_->get(), 10'000'000), 0);
  }
  static SandboxView view(const char* id, SandboxState state) {
    SandboxView view;
    view.id = id;
    view.state = state;
    return view;
  }

  std::unique_ptr<Loop> loop_ = Loop::create().value();
  std::size_t problems_ = 0;
  std::vector<std::string> told_;
  Behind behind_;
  StatusLine line_{*loop_, [this] { return problems_; },
                   [this](const std::string& text) { told_.push_back(text); }, Instant(0)};
};

TEST_F(StatusLines, ManyChangesAreToldOnce) {
  EXPECT_EQ(line_.take(), "0 sandboxes, 0 degraded");
  for (const char* const id : {"a", "b", "c"}) line_.added(view(id, SandboxState::discovered));
  for (int i = 0; i < 100; ++i) {
    line_.changed(view("a", SandboxState::placed), view("a", SandboxState::degraded));
    line_.changed(view("a", SandboxState::degraded), view("a", SandboxState::placed));
  }
  line_.changed(view("b", SandboxState::placed), view("b", SandboxState::degraded));
  wait();
  line_.removed("b");
  problems_ = 1;
  line_.problems_changed();
  wait();
  EXPECT_EQ(told_, (std::vector<std::string>{
                       "3 sandboxes, 1 degraded",
                       "2 sandboxes, 0 degraded; 1 problem of the daemon's own: see 'cgctl "
                       "status'"}));
}

TEST_F(StatusLines, WhatEndsAsItWasIsNotTold) {
  (void)line_.take();  // ignored: only from then on changes are told
  line_.added(view("a", SandboxState::placed));
  line_.removed("a");
  while (::sd_event_run(loop_->get(), 0) > 0) continue;
  EXPECT_EQ(told_, std::vector<std::string>());
}

TEST_F(StatusLines, NothingIsToldBeforeTheDaemonIsReady) {
  line_.added(view("a", SandboxState::degraded));
  while (::sd_event_run(loop_->get(), 0) > 0) continue;
  EXPECT_EQ(told_, std::vector<std::string>());
  EXPECT_EQ(line_.take(), "1 sandbox, 1 degraded");
}

TEST_F(StatusLines, TheBusHearsEverything) {
  line_.set_next(&behind_);
  line_.added(view("a", SandboxState::placed));
  line_.changed(view("a", SandboxState::placed), view("a", SandboxState::degraded));
  line_.problems_changed();
  line_.removed("a");
  EXPECT_EQ(behind_.heard, "+a~a!-a");
}

}  // namespace
}  // namespace kcg::test
