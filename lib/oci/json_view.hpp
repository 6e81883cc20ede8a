// SPDX-License-Identifier: Apache-2.0
//
// Strict reading of JSON objects (L2). nlohmann's own get<int>() turns -1 into 4294967295, 1.9 into
// 1 and true into 1, and what 1e32 becomes is not defined, so every value is read through here. The
// first problem is kept and named by its dotted key; reading goes on with "absent", so callers
// check once, at the end. As in Go, which writes these files: null is absent.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kcg {

/// Value: the first thing that was wrong; empty while all is well.
struct JsonProblem {
  std::string text;
  void add(std::string_view key, std::string_view what);
};

/// Value: a view of one object, or of nothing. Lives no longer than the JSON and the problem.
class JsonView final {
 public:
  JsonView(const nlohmann::json& object, JsonProblem& problem);

  [[nodiscard]] bool present() const { return object_ != nullptr; }
  /// An absent one gives absent members.
  [[nodiscard]] JsonView object(std::string_view key) const;
  /// As object(), but absence is a problem.
  [[nodiscard]] JsonView required(std::string_view key) const;
  [[nodiscard]] std::vector<JsonView> objects(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const { return member(key) != nullptr; }
  /// Names of its members, sorted; none where it is absent.
  [[nodiscard]] std::vector<std::string> keys() const;
  /// The same object; its problems are told to another one.
  [[nodiscard]] JsonView apart(JsonProblem& problem) const { return {object_, path_, problem}; }
  [[nodiscard]] std::optional<std::string> text(std::string_view key) const;
  [[nodiscard]] std::optional<std::int64_t> i64(std::string_view key) const;
  [[nodiscard]] std::optional<std::uint64_t> u64(std::string_view key) const;
  [[nodiscard]] std::optional<std::uint32_t> u32(std::string_view key) const;
  [[nodiscard]] std::optional<bool> boolean(std::string_view key) const;
  /// Reports a problem with one of this object's keys.
  void problem(std::string_view key, std::string_view what) const;

 private:
  JsonView(const nlohmann::json* object, std::string path, JsonProblem& problem)
      : object_(object), path_(std::move(path)), problem_(&problem) {}
  [[nodiscard]] const nlohmann::json* member(std::string_view key) const;
  [[nodiscard]] std::string path_of(std::string_view key) const;
  [[nodiscard]] JsonView view(const nlohmann::json* value, std::string path) const;

  const nlohmann::json* object_;
  std::string path_;
  JsonProblem* problem_;
};

}  // namespace kcg
