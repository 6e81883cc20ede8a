// SPDX-License-Identifier: Apache-2.0
//
// Directories of a known shape, followed as they come and go (L6, internal to watch/): a base that
// may not exist yet, some levels below it, and files of certain names in the last level. A
// directory is watched first and listed afterwards, and always from the root downwards, so nothing
// that appears in between is missed and every search ends. A directory that cannot be watched is
// listed all the same, and tried again later.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "daemon/watch/inotify.hpp"
#include "daemon/watch/shortage.hpp"

namespace kcg {

/// Value: "<base>/<level>/<level>/<file>"; a level is a name, or "*" for any.
struct PathPattern {
  std::string base;  ///< absolute
  std::vector<std::string> levels;
  std::set<std::string, std::less<>> files;
  bool sockets = false;  ///< they are sockets: whole as soon as they are made
  unsigned above = 0;    ///< what is told is not the file's directory, but one so many levels above
};

/// Resource: see the head of the file.
class PathWatch final {
 public:
  /// A directory of the last level appeared, vanished, or one of a pattern's files in it changed;
  /// once for all that one turn of the loop brought, whichever pattern it was.
  using Changed = std::function<void(const std::string& directory)>;
  /// Events were lost; the watch itself has found its way again already.
  using Lost = std::function<void()>;

  /// Begins at once. What exists already is told before this returns.
  PathWatch(Loop& loop, std::vector<PathPattern> patterns, Changed changed, Lost lost,
            TellHealth tell);
  PathWatch(const PathWatch&) = delete;
  PathWatch& operator=(const PathWatch&) = delete;
  ~PathWatch() = default;

  /// Something was mounted or unmounted: a base may be another directory now, and inotify does not
  /// tell.
  void recheck();
  [[nodiscard]] std::size_t size() const { return watches_.size(); }

  /// At most this many directories are watched; beyond, health says so.
  static constexpr std::size_t kMaxDirectories = 65'536;

 private:
  /// Value: a watched directory. depth 0 is the base, -1 a directory above it.
  struct Node {
    std::size_t pattern = 0;
    int depth = 0;
    std::string path;
    auto operator<=>(const Node&) const = default;
  };
  enum class Added : std::uint8_t { fresh, known, refused, gone };

  void on_event(int wd, std::uint32_t mask, std::string_view name);
  void on_node_event(const Node& node, std::uint32_t mask, std::string_view name);
  void follow_base(std::size_t pattern);
  void look_again(const Node& node);
  void enter(const Node& node, Added how);
  [[nodiscard]] Added add(const Node& node);
  [[nodiscard]] Added refuse(const Node& node, const Error& why);
  void leave(int wd);
  void drop_within(std::size_t pattern, const std::string& path);
  void drop(std::map<Node, int>::iterator it);
  [[nodiscard]] std::vector<Node> nodes_of(int wd) const;
  void rebuild();
  [[nodiscard]] Status retry();
  void note(const Node& node);
  void tell_noted();
  [[nodiscard]] bool wanted(const Node& node, std::string_view name) const;
  [[nodiscard]] std::uint32_t files_mask(std::size_t pattern) const;
  [[nodiscard]] bool last_level(const Node& node) const;

  std::vector<PathPattern> patterns_;
  Changed changed_;
  Lost lost_;
  std::map<Node, int> watches_;
  /// Keys of watches_; one inode may serve two patterns.
  std::unordered_multimap<int, const Node*> nodes_;
  std::map<Node, int> before_;  ///< while everything is looked through again
  std::set<Node> refused_;      ///< exist, and could not be watched
  bool crowded_ = false;        ///< more of them than are kept
  std::optional<Error> refusal_;
  std::set<std::string> noted_;  ///< to be told at the end of the turn
  Shortage shortage_;
  Inotify inotify_;  ///< last: its handler uses the members above
};

}  // namespace kcg
