// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/top/terminal.hpp"

#define NCURSES_NOMACROS 1
#include <ncurses.h>

#include <algorithm>

namespace kcg::cgctl::top {

Terminal::Terminal() {
  (void)initscr();  // ignored: it ends the program where there is no terminal
  (void)cbreak();   // ignored: likewise
  (void)noecho();
  (void)keypad(stdscr, true);
  (void)curs_set(0);  // ignored: not every terminal can hide it
  (void)set_escdelay(25);
}

Terminal::~Terminal() { (void)endwin(); }

std::size_t Terminal::width() const {
  return static_cast<std::size_t>(std::max(getmaxx(stdscr), 1));
}

std::size_t Terminal::height() const {
  return static_cast<std::size_t>(std::max(getmaxy(stdscr), 1));
}

void Terminal::draw(const Picture& picture) {
  (void)erase();
  for (std::size_t i = 0; i < picture.lines.size() && i < height(); ++i) {
    const bool marked = picture.mark == i;
    if (marked) (void)attron(A_REVERSE);
    (void)mvaddnstr(static_cast<int>(i), 0, picture.lines[i].c_str(), -1);
    if (marked) (void)attroff(A_REVERSE);
  }
  (void)refresh();
}

Key Terminal::wait(std::chrono::milliseconds patience) {
  timeout(static_cast<int>(patience.count()));
  switch (getch()) {
    case KEY_UP:
    case 'k':
      return Key::up;
    case KEY_DOWN:
    case 'j':
      return Key::down;
    case '\n':
    case '\r':
    case KEY_ENTER:
      return Key::enter;
    case 27:
      return Key::back;
    case 'q':
      return Key::quit;
    case 'c':
      return Key::cpu;
    case 'm':
      return Key::memory;
    case 't':
      return Key::throttled;
    case 'p':
      return Key::pressure;
    case 'n':
      return Key::name;
    default:
      return Key::none;
  }
}

}  // namespace kcg::cgctl::top
