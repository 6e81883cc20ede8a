// SPDX-License-Identifier: Apache-2.0
//
// plan and explain, of sandboxes and of bundles.
#include "tools/cgctl/render.hpp"
#include "tools/cgctl/verbs.hpp"

namespace kcg::cgctl {

namespace {

Result<Answer> plan_answer(const Options& options, const Style& style,
                           const std::string& document) {
  Answer answer;
  if (options.detailed_exit) {
    const auto steps = count_steps(document);
    if (!steps) return forward(steps.error());
    if (*steps > 0) answer.exit = Exit::something_wrong;
  }
  answer.out = document;
  if (options.json) return answer;
  auto text = render_plan(style, document);
  if (!text) return forward(text.error());
  answer.out = *std::move(text);
  return answer;
}

Result<Answer> explain_answer(const Options& options, const Style& style,
                              const std::string& document) {
  if (options.json) return Answer{document};
  auto text = render_explain(style, document);
  if (!text) return forward(text.error());
  return Answer{*std::move(text)};
}

}  // namespace

Result<Answer> reason(const Options& options, const Style& style, Source& source) {
  const bool plan = options.verb == Verb::plan;
  const auto document = plan ? source.plan(options.id) : source.explain(options.id);
  if (!document) return forward(document.error());
  return plan ? plan_answer(options, style, *document) : explain_answer(options, style, *document);
}

Result<Answer> foresee(const Options& options, const Style& style) {
  const auto document = plan_of_bundles(options);
  if (!document) return forward(document.error());
  const bool plan = options.verb == Verb::plan;
  return plan ? plan_answer(options, style, *document) : explain_answer(options, style, *document);
}

}  // namespace kcg::cgctl
