// SPDX-License-Identifier: Apache-2.0
//
// `tree`: the groups of a sandbox with their members, limits and usage. The pod's group is named
// once, in full; all else as seen from there. What is not as desired is marked with "!".
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "show/group_tree.hpp"
#include "tools/cgctl/limits.hpp"
#include "tools/cgctl/render.hpp"
#include "tools/cgctl/resolve.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl {

namespace {

constexpr std::size_t kShownTids = 3;
constexpr const char* kSpace = "   ";

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
      : style_(style), lines_(style.utf8 ? kBox : kPlain), view_(view), all_(group_members(view)) {
    for (const auto& one : all_)
      if (below(one.path, view.sandbox_cgroup))
        names_ = std::max(names_, columns_of(name_of(one.path)));
  }

  /// Groups below the pod's hang on its line, all others stand alone with their whole path.
  [[nodiscard]] std::string text() {
    std::vector<std::size_t> hanging;
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (!parent(i) && below(all_[i].path, view_.pod_cgroup)) hanging.push_back(i);
    if (!hanging.empty()) {
      line("", printable(view_.pod_cgroup));
      pod_limits("  ");
    }
    children(hanging, "", view_.pod_cgroup);
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (!parent(i) && !below(all_[i].path, view_.pod_cgroup)) draw(i, all_[i].path, "", "");
    return out_;
  }

 private:
  [[nodiscard]] std::optional<std::size_t> parent(std::size_t child) const;
  [[nodiscard]] std::string name_of(const std::string& path) const;
  void children(const std::vector<std::size_t>& which, const std::string& rest,
                const std::string& above);
  void draw(std::size_t at, const std::string& shown, const std::string& head,
            const std::string& rest);
  void head_line(const GroupMembers& one, const std::string& shown, const std::string& head);
  [[nodiscard]] std::string limits(const GroupMembers& one) const;
  void pod_limits(const std::string& rest);
  void complaints(const GroupMembers& one, const std::string& rest);
  void line(const std::string& indent, const std::string& text) { out_ += indent + text + "\n"; }

  const Style& style_;
  const Lines& lines_;
  const SandboxView& view_;
  std::vector<GroupMembers> all_;
  std::size_t names_ = 0;
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

std::string Drawing::name_of(const std::string& path) const {
  return path.substr(path.rfind('/') + 1);
}

/// "2 threads", with their classes where the group's own name does not say them.
std::string members_text(const GroupMembers& one) {
  if (one.threads.empty()) return "none";
  std::array<std::size_t, 4> count{};
  for (const auto* thread : one.threads) ++count.at(static_cast<std::size_t>(thread->cls));
  std::vector<std::string> classes;
  bool plain = true;
  for (const auto cls : {ThreadClass::vcpu, ThreadClass::io, ThreadClass::vmm, ThreadClass::shim}) {
    const auto some = count.at(static_cast<std::size_t>(cls));
    if (some == 0) continue;
    classes.push_back(fmt::format("{} {}", some, name(cls)));
    plain = plain && one.group != nullptr && name(one.group->role) == name(cls);
  }
  const auto all = count_text(one.threads.size(), "thread");
  return plain ? all : fmt::format("{} ({})", all, join(classes, ", "));
}

std::string tids_text(const GroupMembers& one) {
  std::string out;
  for (std::size_t i = 0; i < one.threads.size() && i < kShownTids; ++i)
    out += fmt::format("{}{}", i == 0 ? "" : " ", one.threads[i]->tid);
  if (one.threads.size() > kShownTids) out += fmt::format(" +{}", one.threads.size() - kShownTids);
  return out;
}

std::string Drawing::limits(const GroupMembers& one) const {
  const auto& group = *one.group;
  std::vector<std::string> parts;
  const bool whole = one.path == view_.sandbox_cgroup && group.memory_current;
  if (whole)
    parts.push_back(memory_text(group.memory_current, view_.memory_limit) + memory_sum_text(view_));
  else if (group.memory_current)
    parts.push_back(size_text(*group.memory_current) + " used");
  for (auto& text : limit_texts(group.limits)) parts.push_back(std::move(text));
  return printable(join(parts, kSpace));
}

/// Members, limits and thread ids, as far as they fit.
void Drawing::head_line(const GroupMembers& one, const std::string& shown,
                        const std::string& head) {
  const auto name = printable(shorter_id(style_, view_.id, shown));
  const auto pad = names_ > columns_of(name) ? names_ - columns_of(name) : 0;
  std::string text = painted(style_, Paint::strong, name);
  if (one.group != nullptr && !one.group->exists)
    return line(head,
                text + std::string(pad, ' ') + kSpace + painted(style_, Paint::bad, "! missing"));
  std::vector<std::string> parts;
  const bool inner = one.path == view_.sandbox_cgroup && one.threads.empty();
  if (!inner) parts.push_back(members_text(one));
  if (one.group == nullptr)
    parts.push_back("not a group of this sandbox");
  else if (auto limited = limits(one); !limited.empty())
    parts.push_back(std::move(limited));
  if (!one.threads.empty()) parts.push_back(tids_text(one));
  auto width = columns_of(head) + columns_of(name) + pad;
  text += std::string(parts.empty() ? 0 : pad, ' ');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    width += columns_of(parts[i]) + columns_of(kSpace);
    const bool spare = i + 1 == parts.size() && i > 0;
    if (spare && style_.width && !style_.wide && width > *style_.width) break;
    text += kSpace + parts[i];
  }
  line(head, text);
}

/// What the pod as a whole is allowed, and by whom.
void Drawing::pod_limits(const std::string& rest) {
  const auto text = ceiling_text(view_.pod_limits);
  if (text.empty()) return;
  const bool kubelets = view_.pod_cgroup.find("/kubepods") != std::string::npos;
  line(rest, text + (kubelets ? std::string(kSpace) + "made by the kubelet" : ""));
  if (style_.raw) line(rest, painted(style_, Paint::faint, printable(raw_text(view_.pod_limits))));
}

void Drawing::complaints(const GroupMembers& one, const std::string& rest) {
  const auto bad = [&](const std::string& text) {
    line(rest, painted(style_, Paint::bad, fmt::format("! {}", printable(text))));
  };
  if (style_.raw && one.group != nullptr && !one.group->limits.empty())
    line(rest, painted(style_, Paint::faint, printable(raw_text(one.group->limits))));
  if (one.group != nullptr && one.group->exists)
    for (const auto& [key, value] : one.group->wanted) {
      const auto now = one.group->limits.find(key);
      bad(fmt::format("{} should be {}{}", key, value,
                      now == one.group->limits.end() ? "" : ", not " + now->second));
    }
  for (const auto* thread : one.threads) {
    if (!misplaced(*thread)) continue;
    const auto where = thread->group_wanted == one.path
                           ? "elsewhere in another hierarchy"
                           : fmt::format("in {}", short_path(view_, thread->group_wanted));
    bad(fmt::format("{} {} ({}) belongs {}", thread->tid, thread->comm, name(thread->cls), where));
  }
}

void Drawing::children(const std::vector<std::size_t>& which, const std::string& rest,
                       const std::string& above) {
  const auto prefix = above == "/" ? 1 : above.size() + 1;
  for (const auto child : which) {
    const bool last = child == which.back();
    draw(child, all_[child].path.substr(prefix), rest + (last ? lines_.last : lines_.branch),
         rest + (last ? lines_.blank : lines_.through));
  }
}

void Drawing::draw(std::size_t at, const std::string& shown, const std::string& head,
                   const std::string& rest) {
  std::vector<std::size_t> inside;
  for (std::size_t i = 0; i < all_.size(); ++i)
    if (parent(i) == at) inside.push_back(i);
  head_line(all_[at], shown, head);
  const auto below_it = rest + (inside.empty() ? "   " : lines_.through);
  if (all_[at].path == view_.pod_cgroup) pod_limits(below_it);
  complaints(all_[at], below_it);
  children(inside, rest, all_[at].path);
}

std::string about(const SandboxView& view) {
  const bool v1 = !view.groups.empty() && view.groups.front().type == GroupType::v1;
  return fmt::format("({}, {} driver{})", name(view.layout), name(view.driver),
                     view.groups.empty() ? ""
                     : v1                ? ", cgroup v1"
                                         : ", cgroup v2");
}

/// In one line where there is room for it.
std::string heading(const Style& style, const SandboxView& view) {
  Style plain = style;
  plain.color = false;
  const auto needs = columns_of(render_heading(plain, view)) + 2 + columns_of(about(view));
  const bool fits = !style.width || needs <= *style.width;
  return fmt::format("{}{}{}\n", render_heading(style, view), fits ? "  " : "\n  ",
                     painted(style, Paint::faint, about(view)));
}

}  // namespace

std::string shorter_id(const Style& style, const std::string& id, const std::string& text) {
  const auto at = text.find(id);
  if (style.wide || id.size() <= kShortId || at == std::string::npos) return text;
  return text.substr(0, at + kShortId) + (style.utf8 ? "…" : "~") + text.substr(at + id.size());
}

std::string render_heading(const Style& style, const SandboxView& view) {
  const auto id = style.wide ? view.id : view.id.substr(0, kShortId);
  const auto first = printable(title(view));
  const auto state = painted(style, paint_of(view.state), std::string(name(view.state)));
  return fmt::format("{}{}  {}", painted(style, Paint::strong, first),
                     title(view).ends_with(id) ? "" : fmt::format("  {}", printable(id)), state);
}

std::string render_tree(const Style& style, const std::vector<SandboxView>& views) {
  if (views.empty()) return "No sandbox runs here.\n";
  std::string out;
  std::size_t threads = 0, wrong = 0, limits = 0;
  for (const auto& view : views) {
    if (!out.empty()) out += "\n";
    out += heading(style, view);
    out += Drawing(style, view).text();
    threads += view.threads.size();
    for (const auto& thread : view.threads) wrong += misplaced(thread) ? 1U : 0U;
    for (const auto& group : view.groups) limits += group.exists ? group.wanted.size() : 1U;
  }
  if (limits > 0) {
    const auto what = limits == 1 ? std::string("1 limit or group is")
                                  : fmt::format("{} limits or groups are", limits);
    out += paragraph(style, 0, {what + " not as wanted: cgctl plan", Paint::bad, ""});
  }
  return out + render_whereabouts(style, threads, wrong);
}

}  // namespace kcg::cgctl
