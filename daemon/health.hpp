// SPDX-License-Identifier: Apache-2.0
//
// What does not work as it should (L8): each part of the daemon tells its own state here, and
// people are told once when trouble begins and once when it ends.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace kcg {

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
  /// "<part>: <what is wrong>" of each part that does not work now, sorted.
  [[nodiscard]] std::vector<std::string> problems() const;
  /// Called whenever problems() has changed.
  void on_change(std::function<void()> changed) { changed_ = std::move(changed); }

 private:
  void tell(const std::string& part, const std::string& problem);

  Said said_;
  std::function<void()> changed_;
  std::map<std::string, std::string> problems_;
};

}  // namespace kcg
