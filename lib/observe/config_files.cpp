// SPDX-License-Identifier: Apache-2.0
#include "observe/config_files.hpp"

#include <cerrno>
#include <filesystem>
#include <map>
#include <system_error>

#include "base/dir.hpp"
#include "base/text.hpp"
#include "config/keys.hpp"
#include "config/reload.hpp"

namespace kcg {

namespace {

constexpr const char* kConfigFile = "/etc/kata-cgroupd/config.toml";

/// By base name: the file of the highest root that has it.
using DropIns = std::map<std::string, std::string>;

Status add_text(const std::string& path, std::vector<ConfigText>& texts) {
  auto text = read_path(path);
  if (!text) return forward(text.error());
  texts.push_back({path, std::move(*text)});
  return {};
}

Status add_drop_ins(const std::string& directory, DropIns& found) {
  const auto opened = Dir::open(directory);
  if (!opened) {
    if (opened.error().code == ENOENT) return {};
    return forward(opened.error());
  }
  const auto entries = opened->list();
  if (!entries) return forward(entries.error(), directory);
  for (const auto& entry : *entries)
    if (entry.name.ends_with(".toml") && !entry.name.starts_with('.'))
      found[entry.name] = fmt::format("{}/{}", directory, entry.name);
  return {};
}

Status take(Config& config, const ConfigOption& said) {
  if (said.value.empty()) return {};
  for (const auto& key : config_keys())
    if (key.name == said.key && !key.set(config, "", said.value))
      return fail(0, "{}: must be {}, not \"{}\"", said.option, key.type, escaped(said.value, 128));
  config.origins.by_name[said.key] = "command line";
  return {};
}

}  // namespace

std::vector<std::string> default_drop_in_roots() {
  return {"/usr/lib/kata-cgroupd", "/run/kata-cgroupd", "/etc/kata-cgroupd"};
}

Result<Config> read_config(const std::string& main_file, bool must_exist,
                           const std::vector<std::string>& drop_in_roots) {
  std::vector<ConfigText> texts;
  auto added = add_text(main_file, texts);
  if (!added && (must_exist || added.error().code != ENOENT)) return forward(added.error());

  DropIns drop_ins;
  for (const auto& root : drop_in_roots)
    if (added = add_drop_ins(root + "/config.d", drop_ins); !added) return forward(added.error());
  for (const auto& [name, path] : drop_ins)
    if (added = add_text(path, texts); !added) return forward(added.error());
  return load_config(texts);
}

Result<Config> config_in_force(const ConfigChoice& choice) {
  auto config = choice.file.empty() ? read_config(kConfigFile, false, default_drop_in_roots())
                                    : read_config(choice.file, true, {});
  if (!config) return config;
  for (const auto& said : choice.options)
    if (auto taken = take(*config, said); !taken) return forward(taken.error());
  return with_run_root(std::move(*config), run_root_named(choice.run_root));
}

std::string run_root_named(const std::string& directory) {
  if (directory.empty()) return directory;
  std::error_code failed;  // then it stays as it was said
  const auto path = std::filesystem::weakly_canonical(directory, failed);
  return failed ? directory : path.string();
}

}  // namespace kcg
