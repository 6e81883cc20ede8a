// SPDX-License-Identifier: Apache-2.0
#include "support/live/groups.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "support/live/kernel.hpp"
#include "support/live/must.hpp"
#include "support/live/wait.hpp"

namespace kcg::live {

namespace {

std::string new_top() {
  static int count = 0;
  return fmt::format("/{}{}-{}", kCornerPrefix, ::getpid(), ++count);
}

/// Everything in a corner is below it in cgroup2, also what only matters in v1.
void kill_all(const std::string& unified_directory) {
  if (scribble(unified_directory + "/cgroup.kill", "1") != 0) return;
  (void)wait_until([&] {  // ignored: the removal after it fails loudly
    return slurp(unified_directory + "/cgroup.events").find("populated 0") != std::string::npos;
  });
}

/// Removal is tried until the deadline: a dying process keeps its groups for a moment.
void remove_tree(const std::string& directory) {
  const bool gone = wait_until([&] {
    auto all = directories(directory);
    std::for_each(all.rbegin(), all.rend(), [](const std::string& d) { ::rmdir(d.c_str()); });
    return !exists(directory);
  });
  if (!gone) std::fprintf(stderr, "live: cannot remove %s\n", directory.c_str());
}

}  // namespace

std::vector<standin::Mount> mounts_of(const std::string& version) {
  return standin::find_mounts(version).value_or(std::vector<standin::Mount>());
}

Corner::Corner(Tree tree)
    : tree_(tree), top_(new_top()), v1_(mounts_of("v1")), v2_(mounts_of("v2")) {
  for (const auto* const mounts : {&v1_, &v2_})
    must(standin::KataGroup(*mounts, top_ + "/system").make());
}

Corner::~Corner() {
  if (!v2_.empty()) kill_all(v2_.front().path + top_);
  for (const auto* const mounts : {&v1_, &v2_})
    for (const auto& mount : *mounts) remove_tree(mount.path + top_);
}

const std::vector<standin::Mount>& Corner::managed() const { return tree_ == Tree::v1 ? v1_ : v2_; }

std::vector<std::string> Corner::system() const {
  std::vector<std::string> all;
  for (const auto* const mounts : {&v1_, &v2_})
    for (const auto& mount : *mounts) all.push_back(mount.path + top_ + "/system");
  return all;
}

void Corner::make(const std::string& path) const {
  must(standin::KataGroup(managed(), path).make());
}

std::string Corner::directory(const std::string& path, const std::string& controller) const {
  if (tree_ == Tree::v2) return v2_.front().path + path;
  for (const auto& mount : v1_)
    for (const auto& has : mount.controllers)
      if (has == controller) return mount.path + path;
  throw std::runtime_error("no v1 hierarchy has " + controller);
}

std::vector<std::string> Corner::find(const std::string& prefix) const {
  std::vector<std::string> found;
  for (const auto& mount : managed())
    for (const auto& directory : directories(mount.path + top_))
      if (std::filesystem::path(directory).filename().string().rfind(prefix, 0) == 0)
        found.push_back(directory);
  return found;
}

void remove_old_corners() {
  for (const char* const version : {"v2", "v1"})
    for (const auto& mount : mounts_of(version))
      for (const auto& entry : std::filesystem::directory_iterator(mount.path)) {
        if (entry.path().filename().string().rfind(kCornerPrefix, 0) != 0) continue;
        if (mount.unified) kill_all(entry.path());
        remove_tree(entry.path());
      }
}

}  // namespace kcg::live
