// SPDX-License-Identifier: Apache-2.0
#include "config/settings.hpp"

#include <toml++/toml.h>
#include <algorithm>
#include <exception>

#include "config/nesting.hpp"

namespace kcg {

namespace {

ConfigValue list_value(const toml::array& array) {
  std::vector<std::string> list;
  for (const auto& item : array) {
    const auto* text = item.as_string();
    if (text == nullptr) return OtherValue{"an array that holds something else than strings"};
    list.push_back(text->get());
  }
  return list;
}

ConfigValue value_of(const toml::node& node) {
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* number = node.as_integer()) return number->get();
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* array = node.as_array()) return list_value(*array);
  if (node.is_floating_point()) return OtherValue{"a fraction"};
  return OtherValue{node.is_table() ? "a table" : "a date or time"};
}

void flatten(const toml::table& table, const std::vector<std::string>& above,
             std::vector<Setting>& settings) {
  for (const auto& [key, node] : table) {
    auto path = above;
    path.emplace_back(key.str());
    const auto* inner = node.as_table();
    if (inner != nullptr && !inner->empty())
      flatten(*inner, path, settings);
    else
      settings.push_back({std::move(path), value_of(node), key.source().begin.line});
  }
}

}  // namespace

bool names_kata(std::string_view runtime) { return runtime.find("kata") != std::string_view::npos; }

Settings parse_settings(std::string_view toml) {
  Settings found;
  if (const auto line = absurd_nesting(toml); line != 0)
    return {{}, "nested more deeply than any configuration needs", line};
  try {
    flatten(toml::parse(toml), {}, found.settings);
  } catch (const toml::parse_error& error) {
    return {{}, std::string(error.description()), error.source().begin.line};
  } catch (const std::exception& error) {
    return {{}, error.what(), 0};
  }
  std::stable_sort(found.settings.begin(), found.settings.end(),
                   [](const Setting& a, const Setting& b) { return a.line < b.line; });
  return found;
}

}  // namespace kcg
