// SPDX-License-Identifier: Apache-2.0
//
// What does not work as it should (L9): each part of the daemon tells its own state here, and
// people are told once when trouble begins and once when it ends.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kcg {

/// How one part is: it works; what it does is done in another way meanwhile; a link that nobody
/// answers on; it is not wanted.
enum class PartState : std::uint8_t { working, fallback, down, off };
[[nodiscard]] std::string_view name(PartState state);

/// How a part tells its state: what is wrong and what is missed because of it; "" = it works.
using TellHealth = std::function<void(const std::string& problem)>;

/// Resource: see the head of the file.
class Health final {
 public:
  /// `text` names the part. Called for the first word of a trouble and for its end, never between:
  /// a trouble whose text changes is the same one.
  using Said = std::function<void(bool begins, const std::string& part, const std::string& text)>;

  explicit Health(Said said) : said_(std::move(said)) {}

  /// What `name` tells with; must not be used after this object has gone.
  [[nodiscard]] TellHealth part(const std::string& name);
  /// A link to somebody else, which is asked how it is.
  void link(const std::string& name, std::function<PartState()> state);
  /// "<part>: <what is wrong>" of each part that does not work now, sorted.
  [[nodiscard]] std::vector<std::string> problems() const;
  /// How each part and each link is now, by its name.
  [[nodiscard]] std::map<std::string, PartState> parts() const;
  /// Called whenever problems() has changed.
  void on_change(std::function<void()> changed) { changed_ = std::move(changed); }

 private:
  void tell(const std::string& part, const std::string& problem);

  Said said_;
  std::function<void()> changed_;
  std::set<std::string> parts_;
  std::map<std::string, std::function<PartState()>> links_;
  std::map<std::string, std::string> problems_;
};

}  // namespace kcg
