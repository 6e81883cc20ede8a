// SPDX-License-Identifier: Apache-2.0
#include "show/documents_json.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "base/clock.hpp"
#include "base/utf8.hpp"

namespace kcg::json_parts {

Json object_of(std::size_t keys) {
  Json object = Json::object();
  object.get_ref<Json::object_t&>().reserve(keys);
  return object;
}

Json text(std::string_view value) { return valid_utf8(value); }

void put_known(Json& object, const char* key, std::string_view value) {
  if (!value.empty()) object[key] = text(value);
}

std::string time_text(std::int64_t seconds) { return seconds == 0 ? "" : rfc3339(seconds); }

Json texts(const std::vector<std::string>& values) {
  Json array = Json::array();
  for (const auto& value : values) array.push_back(text(value));
  return array;
}

Json text_map(const std::map<std::string, std::string>& values) {
  Json object = Json::object();
  for (const auto& [key, value] : values) object[valid_utf8(key)] = text(value);
  return object;
}

Json overhead(const Overhead& overhead) {
  Json object;
  object["memory_bytes"] = overhead.memory_bytes;
  object["cpu_milli"] = overhead.cpu_milli;
  object["source"] = name(overhead.source);
  return object;
}

Json condition(const Condition& condition) {
  const auto& about = info(condition.condition);
  Json object;
  object["name"] = about.name;
  object["severity"] = name(condition.severity);
  object["text"] = text(condition.text);
  return object;
}

std::string document(std::vector<Json> entries, bool one) {
  auto top = object_of(1 + (one && entries.size() == 1 ? entries.front().size() : 1));
  top["version"] = 1;
  if (one && entries.size() == 1)
    for (auto& [key, value] : entries.front().items()) top[key] = std::move(value);
  else
    top["sandboxes"] = std::move(entries);
  return top.dump(2) + "\n";
}

std::string Reader::text(const char* key) {
  const auto* value = find(key);
  if (value == nullptr) return "";
  if (!value->is_string()) return refuse(key, "is not text"), "";
  return value->get<std::string>();
}

std::int64_t Reader::time(const char* key) {
  const auto given = text(key);
  if (given.empty()) return 0;
  const auto seconds = parse_rfc3339(given);
  if (!seconds) refuse(key, "is not a time");
  return seconds.value_or(0);
}

std::uint64_t Reader::number(const char* key) {
  const auto* value = find(key);
  if (value == nullptr) return 0;
  if (!value->is_number_unsigned()) return refuse(key, "is not a number"), 0;
  return value->get<std::uint64_t>();
}

unsigned Reader::count(const char* key) {
  const auto* value = find(key);
  const bool good = value != nullptr && value->is_number_unsigned() &&
                    *value <= std::numeric_limits<unsigned>::max();
  if (!good) return refuse(key, "is not a count"), 0;
  return value->get<unsigned>();
}

double Reader::real(const char* key) {
  const auto* value = find(key);
  const double number = value == nullptr || !value->is_number() ? NAN : value->get<double>();
  if (!std::isfinite(number)) return refuse(key, "is not a number"), 0;
  return number;
}

const Json& Reader::list(const char* key) {
  static const Json kNone = Json::array();
  const auto* value = find(key);
  if (value != nullptr && value->is_array()) return *value;
  refuse(key, "is not a list");
  return kNone;
}

const Json* Reader::find(const char* key) const {
  const auto it = object_.is_object() ? object_.find(key) : object_.end();
  return it == object_.end() ? nullptr : &*it;
}

void Reader::refuse(const std::string& key, const std::string& why) {
  if (wrong_.empty()) wrong_ = key + " " + why;
}

}  // namespace kcg::json_parts
