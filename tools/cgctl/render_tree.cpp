// SPDX-License-Identifier: Apache-2.0
//
// `tree`: the groups of a sandbox with their members by class, limits and usage. What is not as
// desired is marked with "!".
#include <algorithm>
#include <map>

#include "plan/group_members.hpp"
#include "tools/cgctl/render.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl {

namespace {

/// Value: how branches are drawn.
struct Lines {
  const char *branch, *last, *through, *blank;
};
constexpr Lines kBox = {"├─ ", "└─ ", "│  ", "   "};
constexpr Lines kPlain = {"|- ", "`- ", "|  ", "   "};

bool below(const std::string& path, const std::string& above) {
  return path.size() > above.size() && path.starts_with(above) &&
         (above == "/" || path[above.size()] == '/');
}

/// Draws one sandbox.
class Drawing final {
 public:
  Drawing(const Style& style, const SandboxView& view)
      : style_(style),
        lines_(style.utf8 ? kBox : kPlain),
        sandbox_group_(view.sandbox_cgroup),
        all_(group_members(view)) {}

  [[nodiscard]] std::string text() {
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (!parent(i)) draw(i, all_[i].path, "", "");
    return out_;
  }

 private:
  [[nodiscard]] std::optional<std::size_t> parent(std::size_t child) const;
  void draw(std::size_t at, const std::string& shown, const std::string& head,
            const std::string& rest);
  void head_line(const GroupMembers& one, const std::string& shown, const std::string& head);
  void members(const GroupMembers& one, const std::string& rest);
  [[nodiscard]] std::string short_path(const std::string& path) const;
  void line(const std::string& indent, const std::string& text) { out_ += indent + text + "\n"; }

  const Style& style_;
  const Lines& lines_;
  const std::string& sandbox_group_;
  std::vector<GroupMembers> all_;
  std::string out_;
};

/// The closest group above.
std::optional<std::size_t> Drawing::parent(std::size_t child) const {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < all_.size(); ++i)
    if (below(all_[child].path, all_[i].path) &&
        (!best || all_[i].path.size() > all_[*best].path.size()))
      best = i;
  return best;
}

std::string limits_text(const GroupView& group) {
  std::string out;
  for (const auto& [key, value] : group.limits) out += fmt::format("  {}={}", key, value);
  if (group.memory_current) out += fmt::format("  {} used", bytes_text(*group.memory_current));
  return out;
}

void Drawing::head_line(const GroupMembers& one, const std::string& shown,
                        const std::string& head) {
  std::string text = painted(style_, Paint::strong, printable(shown));
  if (one.group == nullptr) {
    line(head, text + painted(style_, Paint::faint, "  not a group of this sandbox"));
    return;
  }
  text += fmt::format("  [{}]", name(one.group->role));
  if (!one.group->exists)
    text += painted(style_, Paint::bad, "  ! missing");
  else
    text += printable(limits_text(*one.group));
  line(head, text);
}

/// Ids are long: within the sandbox group the way from there is enough.
std::string Drawing::short_path(const std::string& path) const {
  if (sandbox_group_.empty() || !below(path, sandbox_group_)) return path;
  return path.substr(sandbox_group_.size() + 1);
}

void Drawing::members(const GroupMembers& one, const std::string& rest) {
  if (one.group != nullptr && one.group->exists)
    for (const auto& [key, value] : one.group->wanted)
      line(rest, painted(style_, Paint::bad,
                         "! " + printable(fmt::format("{} should be {}", key, value))));
  std::map<ThreadClass, std::vector<const ThreadView*>> by_class;
  for (const auto* thread : one.threads) by_class[thread->cls].push_back(thread);
  for (const auto& [cls, threads] : by_class) {
    std::string tids;
    for (const auto* thread : threads) tids += fmt::format(" {}", thread->tid);
    line(rest, fmt::format("{} {}{}", threads.size(), name(cls), tids));
  }
  for (const auto* thread : one.threads) {
    if (!misplaced(*thread)) continue;
    const auto where = thread->group_wanted == one.path
                           ? "elsewhere in another hierarchy"
                           : fmt::format("in {}", short_path(thread->group_wanted));
    line(rest, painted(style_, Paint::bad,
                       "! " + printable(fmt::format("{} {} ({}) belongs {}", thread->tid,
                                                    thread->comm, name(thread->cls), where))));
  }
}

void Drawing::draw(std::size_t at, const std::string& shown, const std::string& head,
                   const std::string& rest) {
  std::vector<std::size_t> children;
  for (std::size_t i = 0; i < all_.size(); ++i)
    if (parent(i) == at) children.push_back(i);
  head_line(all_[at], shown, head);
  members(all_[at], rest + (children.empty() ? "   " : lines_.through));
  const auto prefix = all_[at].path == "/" ? 1 : all_[at].path.size() + 1;
  for (const auto child : children) {
    const bool last = child == children.back();
    draw(child, all_[child].path.substr(prefix), rest + (last ? lines_.last : lines_.branch),
         rest + (last ? lines_.blank : lines_.through));
  }
}

}  // namespace

std::string render_tree(const Style& style, const std::vector<SandboxView>& views) {
  std::string out;
  for (const auto& view : views) {
    if (!out.empty()) out += "\n";
    const auto pod = pod_text(view).empty() ? "" : pod_text(view) + ", ";
    const auto about = fmt::format("{}{}, {}", pod, name(view.layout), name(view.state));
    out += painted(style, Paint::strong, "sandbox " + printable(view.id));
    out += fmt::format("\n  {}\n", printable(about));
    out += Drawing(style, view).text();
  }
  return out;
}

}  // namespace kcg::cgctl
