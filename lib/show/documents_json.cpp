// SPDX-License-Identifier: Apache-2.0
#include "show/documents_json.hpp"

#include "base/utf8.hpp"

namespace kcg::json_parts {

Json text(std::string_view value) { return valid_utf8(value); }

void put_known(Json& object, const char* key, std::string_view value) {
  if (!value.empty()) object[key] = text(value);
}

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

std::string document(const std::vector<Json>& entries, bool one) {
  Json top;
  top["version"] = 1;
  if (one && entries.size() == 1)
    top.update(entries.front());
  else
    top["sandboxes"] = entries;
  return top.dump(2) + "\n";
}

}  // namespace kcg::json_parts
