// SPDX-License-Identifier: Apache-2.0
//
// plan and explain, of sandboxes and of bundles.
#include "tools/cgctl/render.hpp"
#include "tools/cgctl/resolve.hpp"
#include "tools/cgctl/verbs.hpp"

namespace kcg::cgctl {

namespace {

Titles titles_of(const std::vector<SandboxView>& views) {
  Titles titles;
  for (const auto& view : views) titles[view.id] = title(view);
  return titles;
}

Result<Answer> plan_answer(const Options& options, const Style& style, const std::string& document,
                           const Titles& titles) {
  Answer answer;
  if (options.detailed_exit) {
    const auto steps = count_steps(document);
    if (!steps) return forward(steps.error());
    if (*steps > 0) answer.exit = Exit::something_wrong;
  }
  answer.out = document;
  if (options.json) return answer;
  auto text = render_plan(style, document, titles);
  if (!text) return forward(text.error());
  answer.out = *std::move(text);
  return answer;
}

Result<Answer> explain_answer(const Options& options, const Style& style,
                              const std::string& document, const Titles& titles) {
  if (options.json) return Answer{document};
  auto text = render_explain(style, document, options.topic, titles);
  if (!text) return forward(text.error());
  return Answer{*std::move(text)};
}

}  // namespace

Result<Answer> reason(const Options& options, const Style& style, Source& source) {
  const bool plan = options.verb == Verb::plan;
  const auto views = source.list(false);
  if (!views) return forward(views.error());
  const auto id = options.id.empty() ? Result<std::string>("") : resolve_name(*views, options.id);
  if (!id) return forward(id.error());
  const auto document = plan ? source.plan(*id) : source.explain(*id);
  if (!document) return forward(document.error());
  const auto titles = titles_of(*views);
  return plan ? plan_answer(options, style, *document, titles)
              : explain_answer(options, style, *document, titles);
}

Result<Answer> foresee(const Options& options, const Style& style) {
  const auto document = plan_of_bundles(options);
  if (!document) return forward(document.error());
  const bool plan = options.verb == Verb::plan;
  return plan ? plan_answer(options, style, *document, {})
              : explain_answer(options, style, *document, {});
}

}  // namespace kcg::cgctl
