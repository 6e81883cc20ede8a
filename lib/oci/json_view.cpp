// SPDX-License-Identifier: Apache-2.0
#include "oci/json_view.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace kcg {

namespace {

using nlohmann::json;

std::string wrong(const json& value, std::string_view wanted) {
  const auto text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return fmt::format("{}, not {}", escaped(text), wanted);
}

}  // namespace

void JsonProblem::add(std::string_view key, std::string_view what) {
  if (text.empty()) text = fmt::format("{}: {}", escaped(key, 256), what);
}

JsonView::JsonView(const json& object, JsonProblem& problem)
    : object_(&object), problem_(&problem) {
  if (object.is_object()) return;
  problem.add("top level", wrong(object, "an object"));
  object_ = nullptr;
}

std::string JsonView::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const json* JsonView::member(std::string_view key) const {
  if (object_ == nullptr) return nullptr;
  const auto it = object_->find(key);
  return it == object_->end() || it->is_null() ? nullptr : &*it;
}

void JsonView::problem(std::string_view key, std::string_view what) const {
  problem_->add(path_of(key), what);
}

JsonView JsonView::view(const json* value, std::string path) const {
  if (value != nullptr && !value->is_object()) {
    problem_->add(path, wrong(*value, "an object"));
    value = nullptr;
  }
  return {value, std::move(path), *problem_};
}

JsonView JsonView::object(std::string_view key) const { return view(member(key), path_of(key)); }

JsonView JsonView::required(std::string_view key) const {
  if (present() && member(key) == nullptr) problem(key, "missing");
  return object(key);
}

std::vector<JsonView> JsonView::objects(std::string_view key) const {
  std::vector<JsonView> found;
  const json* list = member(key);
  if (list == nullptr) return found;
  if (!list->is_array()) {
    problem(key, wrong(*list, "an array"));
    return found;
  }
  for (const auto& item : *list)
    found.push_back(view(&item, fmt::format("{}[{}]", path_of(key), found.size())));
  return found;
}

std::vector<std::string> JsonView::keys() const {
  std::vector<std::string> names;
  if (!present()) return names;
  for (const auto& [name, value] : object_->items()) names.push_back(name);
  return names;
}

std::optional<std::string> JsonView::text(std::string_view key) const {
  const json* value = member(key);
  if (value == nullptr) return std::nullopt;
  const auto* text = value->get_ptr<const json::string_t*>();
  if (text != nullptr && text->find('\0') == std::string::npos) return *text;
  problem(key, wrong(*value, text == nullptr ? "a string" : "a string without NUL"));
  return std::nullopt;
}

std::optional<std::int64_t> JsonView::i64(std::string_view key) const {
  const json* value = member(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* number = value->get_ptr<const json::number_unsigned_t*>()) {
    if (*number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return static_cast<std::int64_t>(*number);
  } else if (const auto* negative = value->get_ptr<const json::number_integer_t*>()) {
    return *negative;
  }
  problem(key, wrong(*value, "a whole number of 64 bits"));
  return std::nullopt;
}

std::optional<std::uint64_t> JsonView::u64(std::string_view key) const {
  const json* value = member(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* number = value->get_ptr<const json::number_unsigned_t*>()) return *number;
  problem(key, wrong(*value, "a whole number from 0 to 2^64-1"));
  return std::nullopt;
}

std::optional<std::uint32_t> JsonView::u32(std::string_view key) const {
  const json* value = member(key);
  if (value == nullptr) return std::nullopt;
  const auto* number = value->get_ptr<const json::number_unsigned_t*>();
  if (number != nullptr && *number <= std::numeric_limits<std::uint32_t>::max())
    return static_cast<std::uint32_t>(*number);
  problem(key, wrong(*value, "a whole number from 0 to 2^32-1"));
  return std::nullopt;
}

std::optional<bool> JsonView::boolean(std::string_view key) const {
  const json* value = member(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* flag = value->get_ptr<const json::boolean_t*>()) return *flag;
  problem(key, wrong(*value, "true or false"));
  return std::nullopt;
}

}  // namespace kcg
