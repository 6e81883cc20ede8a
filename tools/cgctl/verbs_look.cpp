// SPDX-License-Identifier: Apache-2.0
//
// list, show, tree, threads, events.
#include <algorithm>

#include "show/amiss.hpp"
#include "show/history_documents.hpp"
#include "show/view_documents.hpp"
#include "tools/cgctl/events.hpp"
#include "tools/cgctl/failure.hpp"
#include "tools/cgctl/render.hpp"
#include "tools/cgctl/resolve.hpp"
#include "tools/cgctl/verbs.hpp"

namespace kcg::cgctl {

namespace {

/// Each with its threads and groups. One that has ended meanwhile fails no more.
Status look_closer(Source& source, std::vector<SandboxView>& views) {
  std::vector<SandboxView> closer;
  for (auto& view : views) {
    if (!view.ignored.empty()) continue;
    auto whole = source.view(view.id);
    if (whole)
      closer.push_back(*std::move(whole));
    else if (failure_exit(whole.error()) != Exit::no_such_sandbox)
      return forward(whole.error());
  }
  views = std::move(closer);
  return {};
}

/// What a pod that just starts shows is over when somebody looks again.
Status keep_failing(Source& source, std::vector<SandboxView>& views) {
  if (auto status = look_closer(source, views); !status) return status;
  std::erase_if(views, [](const SandboxView& view) { return !failing(view); });
  if (std::all_of(views.begin(), views.end(), [](const auto& view) { return view.failing(); }))
    return {};
  source.wait_for_repairs();
  if (auto status = look_closer(source, views); !status) return status;
  std::erase_if(views, [](const SandboxView& view) { return !failing(view); });
  return {};
}

/// "app=web", or "app" whatever its value.
bool has_label(const SandboxView& view, std::string_view wanted) {
  const auto equals = wanted.find('=');
  const auto it = view.asked.labels.find(std::string(wanted.substr(0, equals)));
  return it != view.asked.labels.end() &&
         (equals == std::string_view::npos || it->second == wanted.substr(equals + 1));
}

/// Labels may be long, so a list does not bring them: each is asked for its own.
Status keep_labelled(Source& source, const std::vector<std::string>& labels,
                     std::vector<SandboxView>& views) {
  if (auto status = look_closer(source, views); !status) return status;
  std::erase_if(views, [&](const SandboxView& view) {
    return !std::all_of(labels.begin(), labels.end(),
                        [&](const std::string& label) { return has_label(view, label); });
  });
  return {};
}

Result<Answer> list(const Options& options, const Style& style, Source& source,
                    const std::string& daemon) {
  auto views = source.list(options.all);
  if (!views) return forward(views.error());
  const auto managed = static_cast<std::size_t>(std::count_if(
      views->begin(), views->end(), [](const SandboxView& v) { return v.ignored.empty(); }));
  if (!options.labels.empty()) {
    const auto status = keep_labelled(source, options.labels, *views);
    if (!status) return forward(status.error());
  }
  if (options.failing) {
    if (auto status = keep_failing(source, *views); !status) return forward(status.error());
  }
  const bool wrong = options.failing && !views->empty();
  const auto exit = wrong ? Exit::something_wrong : Exit::good;
  if (options.json) return Answer{list_document(*views), exit};
  const auto split = std::stable_partition(views->begin(), views->end(),
                                           [](const SandboxView& v) { return v.ignored.empty(); });
  const std::vector<SandboxView> ignored(split, views->end());
  views->erase(split, views->end());
  std::string out = render_list(style, *views) + render_answer(style, *views, managed, daemon);
  if (!ignored.empty()) out += fmt::format("\n{}", render_ignored(style, ignored));
  return Answer{out, exit};
}

/// One by its id, or all of them.
Result<std::vector<SandboxView>> views_of(const std::string& id, Source& source) {
  std::vector<SandboxView> views;
  std::vector<std::string> ids{id};
  if (id.empty()) {
    const auto listed = source.list(false);
    if (!listed) return forward(listed.error());
    ids.clear();
    for (const auto& one : *listed) ids.push_back(one.id);
  }
  for (const auto& one : ids) {
    auto view = source.view(one);
    if (!view) return forward(view.error());
    views.push_back(*std::move(view));
  }
  return views;
}

Result<Answer> tree(const Options& options, const Style& style, Source& source) {
  const auto views = views_of(options.id, source);
  if (!views) return forward(views.error());
  if (options.json) return Answer{tree_document(*views, !options.id.empty())};
  return Answer{render_tree(style, *views)};
}

/// Told besides, where it is known.
Result<Answer> show(const Options& options, const Style& style, Source& source) {
  const auto view = source.view(options.id);
  if (!view) return forward(view.error());
  const auto histories = source.events(options.id);
  const bool known = histories && histories->size() == 1;
  if (options.json)
    return Answer{known ? with_events(show_document(*view), histories->front())
                        : show_document(*view)};
  return Answer{render_show(style, *view, known ? render_events(style, histories->front()) : "")};
}

Result<Answer> events(const Options& options, const Style& style, Source& source) {
  const auto histories = source.events(options.id);
  if (!histories) return forward(histories.error());
  const bool single = !options.id.empty() && histories->size() == 1;
  if (options.json) return Answer{history_document(*histories, single)};
  return Answer{single ? render_past(style, histories->front())
                       : render_all_events(style, *histories)};
}

/// Of one that has ended there is nothing but what has happened to it.
Result<Answer> past(const Options& options, const Style& style, Source& source,
                    const Error& not_there) {
  const auto histories = source.events("");
  const auto* history = histories ? find_ended(*histories, options.id) : nullptr;
  if (history == nullptr) return forward(not_there);
  return Answer{options.json ? history_document({*history}, true) : render_past(style, *history)};
}

Result<Answer> threads(const Options& options, const Style& style, Source& source) {
  const auto view = source.view(options.id);
  if (!view) return forward(view.error());
  return Answer{options.json ? threads_document(*view) : render_threads(style, *view)};
}

}  // namespace

Result<Answer> look(const Options& asked, const Style& style, Source& source,
                    const std::string& daemon) {
  auto id = full_id(asked.id, source);
  const bool of_past = asked.verb == Verb::show || asked.verb == Verb::events;
  if (!id && of_past && failure_exit(id.error()) == Exit::no_such_sandbox)
    return past(asked, style, source, id.error());
  if (!id) return forward(id.error());
  Options options = asked;
  options.id = *std::move(id);
  if (options.verb == Verb::list) return list(options, style, source, daemon);
  if (options.verb == Verb::tree) return tree(options, style, source);
  if (options.verb == Verb::events) return events(options, style, source);
  if (options.verb == Verb::show) return show(options, style, source);
  return threads(options, style, source);
}

}  // namespace kcg::cgctl
