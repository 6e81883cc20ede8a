// SPDX-License-Identifier: Apache-2.0
//
// `top`: the terminal, behind three calls. The only file that knows ncurses.
#pragma once

#include <chrono>
#include <cstddef>

#include "tools/cgctl/top/model.hpp"

namespace kcg::cgctl::top {

/// Resource: the terminal as a screen; it is as it was when this has gone.
class Terminal final {
 public:
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  [[nodiscard]] std::size_t width() const;
  [[nodiscard]] std::size_t height() const;
  void draw(const Picture& picture);
  /// none: no key was pressed in that time, or the size has changed.
  [[nodiscard]] Key wait(std::chrono::milliseconds patience);
};

}  // namespace kcg::cgctl::top
