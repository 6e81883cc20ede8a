// SPDX-License-Identifier: Apache-2.0
#include "observe/config_files.hpp"

#include <cerrno>
#include <map>

#include "base/dir.hpp"

namespace kcg {

namespace {

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

}  // namespace

std::vector<std::string> default_drop_in_roots() {
  return {"/usr/lib/kata-cgroupd", "/run/kata-cgroupd", "/etc/kata-cgroupd"};
}

Result<LoadedConfig> read_config(const std::string& main_file, bool must_exist,
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

}  // namespace kcg
