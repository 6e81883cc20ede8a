// SPDX-License-Identifier: Apache-2.0
//
// Directories of a known shape, followed as they come and go (L6, internal to watch/): a base that
// may not exist yet, some levels below it, and files of certain names in the last level. A
// directory is watched first and listed afterwards, so nothing that appears in between is missed.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/watch/inotify.hpp"

namespace kcg {

/// Value: "<base>/<level>/<level>/<file>"; a level is a name, or "*" for any.
struct PathPattern {
  std::string base;  ///< absolute
  std::vector<std::string> levels;
  std::set<std::string, std::less<>> files;
};

/// Resource: see the head of the file.
class PathWatch final {
 public:
  /// A directory of the last level appeared, vanished, or one of the pattern's files in it changed.
  using Changed = std::function<void(std::size_t pattern, const std::string& directory)>;
  /// Events were lost; the watch itself has found its way again already.
  using Lost = std::function<void()>;

  [[nodiscard]] static Result<std::unique_ptr<PathWatch>> create(Loop& loop,
                                                                 std::vector<PathPattern> patterns,
                                                                 Changed changed, Lost lost);

  /// Why some directories are not watched, "" if all are. What is missed is found by resyncs.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

  /// At most this many directories are watched; beyond, problem() says so.
  static constexpr std::size_t kMaxDirectories = 65'536;

 private:
  /// Value: a watched directory. depth 0 is the base, -1 an ancestor of a base that does not exist.
  struct Node {
    std::size_t pattern = 0;
    int depth = 0;
    std::string path;
    auto operator<=>(const Node&) const = default;
  };
  PathWatch(std::vector<PathPattern> patterns, Changed changed, Lost lost)
      : patterns_(std::move(patterns)), changed_(std::move(changed)), lost_(std::move(lost)) {}
  void on_event(int wd, std::uint32_t mask, std::string_view name);
  void on_node_event(const Node& node, std::uint32_t mask, std::string_view name);
  void find_base(std::size_t pattern);
  bool enter(const Node& node);
  [[nodiscard]] bool add(const Node& node);
  void leave(int wd);
  [[nodiscard]] bool wanted(const Node& node, std::string_view name) const;
  [[nodiscard]] bool last_level(const Node& node) const;

  std::vector<PathPattern> patterns_;
  Changed changed_;
  Lost lost_;
  std::map<int, std::set<Node>> nodes_;  ///< by watch: one inode may serve two patterns
  std::map<Node, int> watches_;
  std::string problem_;
  std::unique_ptr<Inotify> inotify_;  ///< last: its handler uses the members above
};

}  // namespace kcg
