// SPDX-License-Identifier: Apache-2.0
//
// A plugin's side of NRI (L2): bytes come in however they are cut, answers go out, and what was
// told is handed over afterwards. Each call is answered without looking into it, since the runtime
// waits, and with it a pod. Nothing is ever asked of the runtime: every answer is empty.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "nri/frames.hpp"
#include "nri/messages.hpp"

namespace kcg::nri {

/// Value: one connection from its first byte on. An error is final: what follows cannot be read.
class Plugin final {
 public:
  /// What the plugin says first: that it is there. The index is its place among others: late,
  /// since it changes nothing.
  [[nodiscard]] static std::string hello();

  /// Appends the answers to `out`. Error: the runtime refuses us, or speaks another language.
  [[nodiscard]] Status take(std::string_view bytes, std::string& out);
  /// What the calls that were answered have told, one after the other; nullopt: no more.
  [[nodiscard]] Result<std::optional<News>> news();

  /// Calls, and their bytes, that may wait for news() to be called.
  static constexpr std::size_t kMostCalls = 4096;
  static constexpr std::size_t kMostBytes = 2 * kMostBody;

 private:
  [[nodiscard]] Status serve(std::string& out);
  [[nodiscard]] Status answer(const Frame& frame, std::string& out);
  [[nodiscard]] Status hear_answers();

  MuxReader mux_;
  FrameReader calls_, answers_;
  std::deque<Call> told_;
  std::size_t told_bytes_ = 0;
};

}  // namespace kcg::nri
