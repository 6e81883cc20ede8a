// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/doctor/engines.hpp"

#include <glob.h>

#include <algorithm>

#include "base/dir.hpp"
#include "model/errnos.hpp"

namespace kcg::cgctl::doctor {

namespace {

constexpr const char* kContainerd = "/etc/containerd/config.toml";
constexpr const char* kCrio = "/etc/crio/crio.conf";
constexpr const char* kCrioDropIns = "/etc/crio/crio.conf.d/*";

/// Sorted by name.
std::vector<std::string> expanded(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
    for (std::size_t i = 0; i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
  ::globfree(&found);
  return paths;
}

void merge(CrioConfigWords& all, const CrioConfigWords& later) {
  if (!later.cgroup_manager.empty()) all.cgroup_manager = later.cgroup_manager;
  for (const auto& runtime : later.kata) {
    std::erase_if(all.kata, [&](const CrioRuntime& one) { return one.name == runtime.name; });
    all.kata.push_back(runtime);
  }
}

void add_named(const char* engine, const std::string& runtime, const std::string& path,
               std::vector<NamedKataFile>& files) {
  const auto text = path.empty() ? fail(0, "none is named") : read_path(path);
  if (text) files.push_back({engine, runtime, path, parse_kata_config(*text).only});
}

}  // namespace

Result<std::vector<HandedOn>> containerd_runtimes() {
  std::vector<HandedOn> runtimes;
  const auto take = [&](const std::string& path, const ContainerdConfigWords& words) {
    for (const auto& runtime : words.kata) runtimes.push_back({path, runtime});
  };
  const auto main = read_path(kContainerd);
  if (!main && errnos::no_file(main.error().code)) return runtimes;
  if (!main) return forward(main.error());
  const auto words = parse_containerd_config(*main);
  take(kContainerd, words);
  for (const auto& pattern : words.imports)
    for (const auto& path : expanded(pattern)) {
      const auto text = read_path(path);
      if (!text) return forward(text.error());
      take(path, parse_containerd_config(*text));
    }
  return runtimes;
}

Result<CrioConfigWords> crio_words() {
  CrioConfigWords all;
  auto paths = expanded(kCrioDropIns);
  paths.insert(paths.begin(), kCrio);
  for (const auto& path : paths) {
    const auto text = read_path(path);
    if (!text && errnos::no_file(text.error().code)) continue;
    if (!text) return forward(text.error());
    merge(all, parse_crio_config(*text));
  }
  return all;
}

std::vector<NamedKataFile> named_kata_files(const std::vector<HandedOn>& containerd,
                                            const CrioConfigWords& crio) {
  std::vector<NamedKataFile> files;
  for (const auto& [path, runtime] : containerd)
    add_named("containerd", runtime.name, runtime.kata_config, files);
  for (const auto& runtime : crio.kata)
    add_named("CRI-O", runtime.name, runtime.kata_config, files);
  return files;
}

}  // namespace kcg::cgctl::doctor
