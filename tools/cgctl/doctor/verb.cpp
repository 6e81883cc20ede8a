// SPDX-License-Identifier: Apache-2.0
//
// `doctor`: gather, judge, tell.
#include "base/clock.hpp"
#include "base/printable.hpp"
#include "tools/cgctl/doctor/report.hpp"
#include "tools/cgctl/status.hpp"
#include "tools/cgctl/verbs.hpp"

namespace kcg::cgctl {

Result<Answer> doctor_answer(const Options& options, const Style& style) {
  std::optional<doctor::ReportFile> report;
  if (!options.report.empty()) {
    auto file = doctor::ReportFile::create(options.report);
    if (!file) return forward(file.error(), "--report");
    report.emplace(std::move(*file));
  }
  const auto facts = doctor::gather(options);
  const auto findings = doctor::diagnose(facts);
  Answer answer;
  answer.exit = doctor::healthy(findings) ? Exit::good : Exit::something_wrong;
  answer.out = options.json ? with_daemon(doctor::document(findings), facts.daemon)
                            : doctor::render(style, findings);
  if (!report) return answer;
  const auto text = doctor::report_document(SystemClock().wall_seconds(), findings,
                                            doctor::gather_parts(options, facts));
  if (auto written = report->write(printable_json(text)); !written)
    return forward(written.error(), "--report");
  if (!options.json && style.width)
    answer.out += paragraph(style, 0,
                            {"The report is in " + options.report +
                                 ". It names pods, groups and limits: read it before you hand it "
                                 "on.",
                             Paint::none, ""});
  return answer;
}

}  // namespace kcg::cgctl
