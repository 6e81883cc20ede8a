// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/terminal.hpp"

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <clocale>
#include <cstdlib>
#include <string_view>

#include "base/clock.hpp"
#include "base/text.hpp"

namespace kcg::cgctl {

namespace {

constexpr std::size_t kDefaultWidth = 80;

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return value == nullptr ? "" : value;
}

std::size_t terminal_width(int fd) {
  if (const auto columns = parse_u64(environment("COLUMNS")); columns && *columns > 0)
    return *columns;
  winsize size{};
  const bool known = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kDefaultWidth;
}

bool wants_color(ColorChoice choice, bool terminal) {
  if (choice != ColorChoice::automatic) return choice == ColorChoice::always;
  return terminal && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
}

}  // namespace

Style style_of(std::FILE* stream, const Options& options) {
  (void)std::setlocale(LC_CTYPE, "");  // ignored: an unknown locale is the C locale
  const int fd = fileno(stream);
  const bool terminal = isatty(fd) == 1;
  Style style;
  style.color = wants_color(options.color, terminal);
  style.wide = options.wide;
  style.raw = options.raw;
  style.utf8 = std::string_view(nl_langinfo(CODESET)) == "UTF-8";
  if (terminal) style.width = terminal_width(fd);
  style.now = SystemClock().wall_seconds();
  return style;
}

}  // namespace kcg::cgctl
