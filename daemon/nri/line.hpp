// SPDX-License-Identifier: Apache-2.0
//
// A line to the engine (L9): a thread that answers its calls and does nothing else, so that no pod
// waits for a pass, however long that takes. What was told is put down for the loop, which takes it
// when it has time. Who is not listened to for long is not read from either: nothing is lost, and
// what waits is bounded.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "nri/plugin.hpp"

namespace kcg {

/// Resource: the socket, and the thread that reads it.
class NriLine final {
 public:
  /// `engine`: connected, non-blocking. Error: no descriptor, or no thread, is left.
  [[nodiscard]] static Result<std::unique_ptr<NriLine>> start(Fd engine);
  NriLine(const NriLine&) = delete;
  NriLine& operator=(const NriLine&) = delete;
  ~NriLine();

  /// Readable while there is something to take.
  [[nodiscard]] int ready() const { return ready_.get(); }
  /// What was told, one after the other; nullopt: no more at the moment.
  [[nodiscard]] std::optional<nri::News> next();
  /// Why nothing more will come, when all was taken; nullopt: more may come.
  [[nodiscard]] std::optional<Error> end();

  /// Bytes that were read and not taken, above which nothing more is read.
  static constexpr std::size_t kMostUntaken = std::size_t{4} << 20;

 private:
  NriLine(Fd engine, Fd ready, Fd wake);

  void run();
  [[nodiscard]] Error converse();
  [[nodiscard]] bool wait();
  [[nodiscard]] Status read();
  [[nodiscard]] Status flush();
  [[nodiscard]] Status put_down(std::size_t bytes);

  Fd engine_;
  Fd ready_, wake_;  ///< eventfds: for the loop, for the thread
  // The thread's:
  nri::Plugin plugin_;
  std::string out_;  ///< what the socket did not take yet
  // Both sides':
  std::mutex mutex_;
  std::deque<nri::News> told_;
  std::size_t untaken_ = 0;
  std::optional<Error> end_;
  std::atomic<bool> over_ = false;
  std::thread thread_;  ///< last: it uses all of the above
};

}  // namespace kcg
