// SPDX-License-Identifier: Apache-2.0
#include "show/documents.hpp"

#include "show/documents_json.hpp"

namespace kcg {

using json_parts::Json;

std::string entry_of_document(std::string_view document) {
  auto json = Json::parse(document, nullptr, false);
  if (json.is_object()) json.erase("version");
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string document_of_entries(const std::vector<std::string>& entries) {
  std::string text = "{\n  \"version\": 1,\n  \"sandboxes\": [";
  for (const auto& entry : entries) {
    if (&entry != entries.data()) text += ",\n";
    text += entry;
  }
  return text + "]\n}\n";
}

}  // namespace kcg
