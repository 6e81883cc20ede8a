// SPDX-License-Identifier: Apache-2.0
#include "config/nesting.hpp"

#include <cstddef>

namespace kcg {

namespace {

constexpr unsigned kMostBrackets = 16;
/// In one line: keys, and the fractions that no key of ours takes.
constexpr unsigned kMostDots = 32;

/// Value: where the scan is.
class Scanner final {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  unsigned run() {
    for (; at_ < text_.size(); ++at_)
      if (!step(text_[at_])) return line_;
    return 0;
  }

 private:
  bool step(char c) {
    switch (c) {
      case '\n':
        ++line_;
        dots_ = 0;
        return true;
      case '#':
        while (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
        return true;
      case '"':
      case '\'':
        skip_quoted(c);
        return true;
      case '[':
      case '{':
        return ++brackets_ <= kMostBrackets;
      case ']':
      case '}':
        if (brackets_ > 0) --brackets_;
        return true;
      case '.':
        return ++dots_ <= kMostDots;
      default:
        return true;
    }
  }

  /// To the last quote. A text that ends with its line is the parser's to refuse.
  void skip_quoted(char quote) {
    const std::string_view three = quote == '"' ? R"(""")" : "'''";
    const bool many = text_.substr(at_).starts_with(three);
    at_ += many ? 3 : 1;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n' && !many) {
        --at_;  // the line's end counts as such
        return;
      }
      if (c == '\n') ++line_;
      const bool ends = many ? text_.substr(at_).starts_with(three) : c == quote;
      if (ends) {
        at_ += many ? 2 : 0;
        return;
      }
      if (c == '\\' && quote == '"' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  unsigned line_ = 1;
  unsigned brackets_ = 0;
  unsigned dots_ = 0;
};

}  // namespace

unsigned absurd_nesting(std::string_view toml) { return Scanner(toml).run(); }

}  // namespace kcg
