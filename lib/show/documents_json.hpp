// SPDX-License-Identifier: Apache-2.0
//
// Pieces that several JSON documents share (L4, for documents*.cpp only).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "model/condition.hpp"
#include "model/plan.hpp"

namespace kcg::json_parts {

using Json = nlohmann::ordered_json;

/// An empty object with room for so many keys: one that grows copies them.
[[nodiscard]] Json object_of(std::size_t keys);
/// A string of a document: whatever is not UTF-8 is replaced.
[[nodiscard]] Json text(std::string_view value);
/// Sets `key` unless the value is empty: only what is known is present.
void put_known(Json& object, const char* key, std::string_view value);

/// As rfc3339(); "" for 0, which is no time.
[[nodiscard]] std::string time_text(std::int64_t seconds);

[[nodiscard]] Json texts(const std::vector<std::string>& values);
[[nodiscard]] Json text_map(const std::map<std::string, std::string>& values);
[[nodiscard]] Json overhead(const Overhead& overhead);
[[nodiscard]] Json condition(const Condition& condition);

/// {"version":1} and the fields of the one entry, or {"version":1,"sandboxes":[entries]}.
[[nodiscard]] std::string document(std::vector<Json> entries, bool one);

/// One object of a document, read key by key; what is wrong first is remembered.
class Reader final {
 public:
  explicit Reader(const Json& object) : object_(object) {
    if (!object.is_object()) wrong_ = "is not an object";
  }

  /// "": it is not given.
  [[nodiscard]] std::string text(const char* key);
  /// 0: it is not given.
  [[nodiscard]] std::int64_t time(const char* key);
  /// 0: it is not given.
  [[nodiscard]] std::uint64_t number(const char* key);
  /// Must be given.
  [[nodiscard]] unsigned count(const char* key);
  /// A finite number, must be given.
  [[nodiscard]] double real(const char* key);
  /// Never null; an empty list: it is wrong.
  [[nodiscard]] const Json& list(const char* key);
  template <class Enum>
  [[nodiscard]] Enum one_of(const char* key, Enum last) {
    const auto given = text(key);
    for (unsigned i = 0; i <= static_cast<unsigned>(last); ++i)
      if (given == name(static_cast<Enum>(i))) return static_cast<Enum>(i);
    return refuse(key, "has an unknown value"), last;
  }
  [[nodiscard]] const Json* find(const char* key) const;
  void refuse(const std::string& key, const std::string& why);
  [[nodiscard]] const std::string& wrong() const { return wrong_; }

 private:
  const Json& object_;
  std::string wrong_;
};

}  // namespace kcg::json_parts
