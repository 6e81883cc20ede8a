// SPDX-License-Identifier: Apache-2.0
#include "config/dump.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "config/keys.hpp"

namespace kcg {

namespace {

constexpr std::size_t kWidth = 78;

/// Value: a key with the handler that stands for its star.
struct Item {
  const ConfigKey& key;
  std::string handler;
  [[nodiscard]] std::string full_name() const { return key.full_name(handler); }
  /// "overhead.handlers.kata" of "overhead.handlers.kata.mib"; "" at top level.
  [[nodiscard]] std::string section() const {
    const auto name = full_name();
    const auto dot = name.rfind('.');
    return dot == std::string::npos ? "" : name.substr(0, dot);
  }
  [[nodiscard]] auto leaf() const {
    return key.name.substr(key.name.rfind('.') + 1);
  }  // npos + 1: 0
  [[nodiscard]] std::string assignment(const Config& config) const {
    return fmt::format("{} = {}", leaf(), toml_text(key.get(config, handler)));
  }
};

/// Keys in the table's order, the per-handler ones once per handler.
std::vector<Item> items(const Config& config) {
  std::vector<Item> all;
  std::vector<const ConfigKey*> per_handler;
  const auto add_handlers = [&] {
    for (const auto& [name, overhead] : config.overhead.handlers)
      for (const auto* key : per_handler) all.push_back({*key, name});
    per_handler.clear();
  };
  for (const auto& key : config_keys()) {
    if (key.per_handler()) {
      per_handler.push_back(&key);
      continue;
    }
    add_handlers();
    all.push_back({key, ""});
  }
  add_handlers();
  return all;
}

/// Comment lines of at most kWidth characters.
std::string comment(std::string_view text) {
  std::string out;
  std::size_t width = kWidth;
  for (const auto word : words(text)) {
    const bool fits = width + 1 + word.size() <= kWidth;
    out.append(fits ? " " : out.empty() ? "# " : "\n# ").append(word);
    width = (fits ? width + 1 : 2) + word.size();
  }
  return out.append("\n");
}

std::string explanation(const ConfigKey& key) {
  auto type = key.type;
  if (type.starts_with("one of ")) type.erase(0, 7);
  return comment(fmt::format("{} Takes {}.{}", key.text, type,
                             key.restart ? " A change needs a restart." : ""));
}

/// A list that does not fit beside where it comes from has a line for each element.
std::string told(const Item& item, const Config& config) {
  const auto origin = escaped(config.origin(item.full_name()), 4096);
  const auto line = fmt::format("{}  # {}\n", item.assignment(config), origin);
  const auto value = item.key.get(config, item.handler);
  const auto* list = std::get_if<std::vector<std::string>>(&value);
  if (list == nullptr || line.size() <= kWidth) return line;
  auto out = fmt::format("{} = [  # {}\n", item.leaf(), origin);
  for (const auto& one : *list) out += fmt::format("  {},\n", toml_text(one));
  return out + "]\n";
}

}  // namespace

std::string dump(const Config& config) {
  std::string out, section;
  for (const auto& item : items(config)) {
    if (item.section() != section) {
      section = item.section();
      out += fmt::format("\n[{}]\n", section);
    }
    out += told(item, config);
  }
  return out;
}

std::string sample_config() {
  std::string out =
      "# SPDX-License-Identifier: Apache-2.0\n#\n" +
      comment(
          "Configuration of kata-cgroupd. Every key stands here at its default, commented out. "
          "After this file, config.d/*.toml below /usr/lib/kata-cgroupd, /run/kata-cgroupd and "
          "/etc/kata-cgroupd are read in the order of their names; of files with equal names only "
          "the one in /etc, else the one in /run counts. What is read later wins, key by key. "
          "Check with: kata-cgroupd --check-config. See the result with: kata-cgroupd "
          "--dump-config.") +
      "\n";
  const Config defaults;
  std::string section;
  for (const auto& item : items(defaults)) {
    if (item.section() != section) {
      section = item.section();
      out += fmt::format("[{}]\n", section);
    }
    out += explanation(item.key) + "#" + item.assignment(defaults) + "\n\n";
  }
  out.pop_back();
  return out;
}

}  // namespace kcg
