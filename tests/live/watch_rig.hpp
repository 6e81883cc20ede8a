// SPDX-License-Identifier: Apache-2.0
//
// What the tests of watchers share: a loop that runs until something was heard, a directory to play
// in, and processes that do one thing. That nothing is heard of X is proven by a fence: something
// that must be heard is done after X, and what was heard until then does not hold X.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/health.hpp"
#include "daemon/loop.hpp"
#include "model/hint.hpp"

namespace kcg::test {

inline SandboxId id_of(const std::string& text) { return SandboxId::parse(text).value(); }

/// Resource: a loop and the hints that it brought.
class Rig {
 public:
  Rig();
  [[nodiscard]] Loop& loop() { return *loop_; }
  [[nodiscard]] HintSink sink();
  /// What a source tells of its health with.
  [[nodiscard]] TellHealth tell();
  /// Everything that was told so, in its order.
  [[nodiscard]] const std::vector<std::string>& told() const { return told_; }
  /// What was told last; "" = all is well.
  [[nodiscard]] std::string problem() const { return told_.empty() ? "" : told_.back(); }
  /// Runs the loop until `settled`; false at the deadline of 10 s.
  [[nodiscard]] bool until(const std::function<bool()>& settled);
  /// Runs the loop until this hint was heard since the last forget().
  [[nodiscard]] bool hears(HintKind kind, const std::string& text, Pid pid = 0);
  [[nodiscard]] long count(HintKind kind, const std::string& text, Pid pid = 0) const;
  void forget() { hints_.clear(); }
  [[nodiscard]] const std::vector<Hint>& hints() const { return hints_; }

 private:
  std::unique_ptr<Loop> loop_;
  std::vector<Hint> hints_;
  std::vector<std::string> told_;
};

/// Resource: a fresh directory, removed with all that is in it.
class Playground {
 public:
  Playground();
  ~Playground();
  Playground(const Playground&) = delete;
  Playground& operator=(const Playground&) = delete;
  [[nodiscard]] std::string operator/(const std::string& path) const { return path_ + "/" + path; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// What the kernel watches for all inotify descriptors of ours.
[[nodiscard]] long kernel_watches();

void make_directories(const std::string& path);
void write_file(const std::string& path, const std::string& text);

/// Resource: a forked process that runs `act` when told and then waits to be ended.
class Helper {
 public:
  explicit Helper(const std::function<void()>& act);
  ~Helper();
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Returns when `act` has returned.
  void go();
  void end();

 private:
  pid_t pid_ = 0;
  int to_ = -1;
  int from_ = -1;
};

/// Runs `body` in a process of its own; 0 if it failed no expectation of googletest's.
[[nodiscard]] int apart(const std::function<void()>& body);

/// The caller, which must have one thread, enters a user namespace where it may watch so many
/// inodes in all, and have so many inotify instances. The machine's own limits stay as they are.
void limit_inotify(int watches, int instances);
/// Changes the limits of the namespace that limit_inotify() made.
void change_inotify_limits(int watches, int instances);

/// Starts a program and waits for its end; its pid.
pid_t run_program(const std::string& path);

}  // namespace kcg::test
