// SPDX-License-Identifier: Apache-2.0
#include "config/load.hpp"

#include "base/text.hpp"
#include "config/keys.hpp"
#include "config/settings.hpp"

namespace kcg {

namespace {

using Path = std::vector<std::string>;

constexpr std::size_t kMostProblems = 20;

/// The text of a path as TOML writes it.
std::string dotted(const Path& path) {
  std::vector<std::string> parts;
  for (const auto& part : path) parts.push_back(toml_key(part));
  return join(parts, ".");
}

/// How a key's name relates to a path: the path is the key, or a table that leads to it.
enum class Match { none, table, key };

Match match(const ConfigKey& key, const Path& path) {
  const auto parts = split(key.name, '.');
  if (path.size() > parts.size()) return Match::none;
  for (std::size_t i = 0; i < path.size(); ++i)
    if (parts[i] != "*" && parts[i] != path[i]) return Match::none;
  return path.size() == parts.size() ? Match::key : Match::table;
}

/// The handler's name in a path that matched a key with a star.
std::string handler_in(const ConfigKey& key, const Path& path) {
  const auto parts = split(key.name, '.');
  for (std::size_t i = 0; i < path.size(); ++i)
    if (parts[i] == "*") return path[i];
  return "";
}

/// A runtime handler is a name that engines take: no blank, no control character, not endless.
bool good_handler(const std::string& name) {
  if (name.empty() || name.size() > 128) return false;
  for (const char c : name)
    if (c <= 0x20 || c >= 0x7f) return false;
  return true;
}

/// The names that stand beside an unknown one, for its message.
std::string known_beside(const Path& path) {
  const Path table(path.begin(), path.end() - 1);
  std::vector<std::string> names;
  for (const auto& key : config_keys()) {
    if (match(key, table) != Match::table) continue;
    const auto name = split(key.name, '.')[table.size()];
    if (name != "*" && (names.empty() || names.back() != name)) names.emplace_back(name);
  }
  return join(names, ", ");
}

/// A value for a message: plain ASCII, not endless.
std::string shown(const ConfigValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr ? fmt::format("\"{}\"", escaped(*text, 128))
                         : escaped(toml_text(value), 128);
}

/// Applies the texts one after the other and collects what is wrong.
class Loader {
 public:
  void apply(const ConfigText& file) {
    const auto parsed = parse_settings(file.text);
    if (!parsed.error.empty()) keep({file.name, parsed.error_line, "", escaped(parsed.error, 256)});
    for (const auto& setting : parsed.settings) apply(file, setting);
  }
  [[nodiscard]] Result<Config> result() && {
    if (problems_.empty()) return std::move(config_);
    std::vector<std::string> texts;
    for (const auto& problem : problems_) texts.push_back(problem.full_text());
    if (more_ > 0) texts.push_back(fmt::format("and {} more", more_));
    return fail(0, "{}", join(texts, "\n"));
  }

 private:
  void apply(const ConfigText& file, const Setting& setting) {
    const ConfigKey* table = nullptr;
    for (const auto& key : config_keys()) {
      const auto found = match(key, setting.path);
      if (found == Match::key) return set(key, file, setting);
      if (found == Match::table) table = &key;
    }
    if (table != nullptr) return open_table(*table, file, setting);
    if (full()) {
      ++more_;
      return;
    }
    const auto known = known_beside(setting.path);
    problem(file, setting, known.empty() ? "unknown key" : "unknown key; known here: " + known);
  }

  void set(const ConfigKey& key, const ConfigText& file, const Setting& setting) {
    const auto handler = handler_in(key, setting.path);
    if (key.per_handler() && !good_handler(handler))
      return problem(file, setting, "not the name of a runtime handler");
    if (!key.set(config_, handler, setting.value))
      return problem(file, setting,
                     fmt::format("must be {}, not {}", key.type, shown(setting.value)));
    config_.origins.by_name[key.full_name(handler)] = fmt::format("{}:{}", file.name, setting.line);
  }

  /// A path above keys: an empty table says nothing, except that an empty handler's adds it.
  void open_table(const ConfigKey& key, const ConfigText& file, const Setting& setting) {
    if (setting.value != ConfigValue(OtherValue{"a table"}))
      return problem(file, setting, fmt::format("must be a table, not {}", shown(setting.value)));
    const auto handler = handler_in(key, setting.path);
    if (handler.empty()) return;
    if (!good_handler(handler)) return problem(file, setting, "not the name of a runtime handler");
    (void)config_.overhead.handlers[handler];  // ignored: only its existence matters
  }

  void problem(const ConfigText& file, const Setting& setting, std::string text) {
    keep({file.name, setting.line, escaped(dotted(setting.path), 128), std::move(text)});
  }
  /// Nobody reads them all.
  void keep(ConfigProblem problem) {
    if (full())
      ++more_;
    else
      problems_.push_back(std::move(problem));
  }
  [[nodiscard]] bool full() const { return problems_.size() >= kMostProblems; }

  Config config_;
  std::vector<ConfigProblem> problems_;
  std::size_t more_ = 0;
};

}  // namespace

std::string ConfigProblem::full_text() const {
  std::string out = file;
  if (line != 0) out += fmt::format(":{}", line);
  if (!key.empty()) out += fmt::format(": {}", key);
  return fmt::format("{}: {}", out, text);
}

Result<Config> load_config(const std::vector<ConfigText>& texts) {
  Loader loader;
  for (const auto& file : texts) loader.apply(file);
  return std::move(loader).result();
}

}  // namespace kcg
