// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/recommend.hpp"

#include <fmt/format.h>

#include "base/units.hpp"
#include "show/survey_documents.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl {

namespace {

Cell cell(const std::string& text) { return {text, Paint::none, without_blanks(text)}; }

/// 0: it is not known.
Cell size_cell(std::uint64_t bytes) { return cell(bytes == 0 ? "" : size_text(bytes)); }

Cell declared_cell(const OverheadSpread& seen) {
  if (seen.declared_most == 0) return {""};
  if (seen.declared_least == seen.declared_most) return size_cell(seen.declared_most);
  return cell(sizes_text(seen.declared_least, seen.declared_most, " - "));
}

Row spread_row(const std::string& handler, const Cell& guest, const OverheadSpread& seen,
               const Cell& declare) {
  return {{{handler},
           guest,
           {fmt::format("{}", seen.sandboxes)},
           declared_cell(seen),
           size_cell(seen.half),
           size_cell(seen.ninety_five),
           size_cell(seen.ninety_nine),
           size_cell(seen.largest),
           declare}};
}

/// A row for the handler, and one for each size of guest where there are several.
void add_rows(std::vector<Row>& rows, const OverheadAdvice& advice) {
  rows.push_back(
      spread_row(advice.handler, {"all"}, advice.all, size_cell(advice.declare.value_or(0))));
  if (advice.by_guest.size() < 2) return;
  for (const auto& [guest, seen] : advice.by_guest) {
    const auto size = guest == 0 ? "unknown" : "to " + size_text(guest);
    rows.push_back(spread_row(advice.handler, cell(size), seen, {""}));
  }
}

std::string growth_text(const OverheadAdvice& advice) {
  const auto growth = advice.growth.value_or(0);
  if (growth < static_cast<std::int64_t>(kMib)) return "";
  return fmt::format(" It grows by {} with each GiB of a guest.",
                     size_text(static_cast<std::uint64_t>(growth)));
}

/// What is declared for each and lies idle in 99 of 100, or is missing.
std::string difference_text(const OverheadAdvice& advice, std::uint64_t declare) {
  const auto most = advice.all.declared_most;
  const auto least = advice.all.declared_least;
  if (most == 0) return "";
  if (least < advice.all.ninety_nine)
    return fmt::format(" {} that some declare are too little: their pods can be killed.",
                       size_text(least));
  if (most > declare)
    return fmt::format(" Of {} that are declared {} lie idle in each pod.", size_text(most),
                       size_text(most - declare));
  return " That is about what is declared.";
}

std::string advice_text(const Style& style, const OverheadAdvice& advice) {
  const auto name = advice.handler.empty() ? "(unknown handler)" : advice.handler;
  if (!advice.declare)
    return paragraph(style, 0, {fmt::format("{}: too early to say, {}.", name, advice.too_early)});
  const auto mib = *advice.declare / kMib;
  const auto text =
      fmt::format("{}: declare {} MiB, which holds 99 of 100 with a tenth to spare.{}{}", name, mib,
                  difference_text(advice, *advice.declare), growth_text(advice));
  return paragraph(style, 0, {text}) +
         fmt::format(
             "  In its RuntimeClass:\n"
             "    overhead:\n"
             "      podFixed:\n"
             "        memory: {}Mi\n"
             "  or as an annotation of a pod:\n"
             "    io.katacontainers.config.hypervisor.memory_overhead: \"{}\"\n",
             mib, mib);
}

}  // namespace

std::string render_advice(const Style& style, const std::vector<OverheadAdvice>& advices,
                          const std::string& handler) {
  const std::vector<Column> columns = {{"HANDLER"},
                                       {"GUEST"},
                                       {"PODS", Align::right},
                                       {"DECLARED"},
                                       {"P50", Align::right},
                                       {"P95", Align::right},
                                       {"P99", Align::right},
                                       {"LARGEST", Align::right},
                                       {"DECLARE", Align::right, Shown::in_a_pipe}};
  std::vector<Row> rows;
  for (const auto& advice : advices) add_rows(rows, advice);
  if (!style.width) return table(style, columns, rows);
  if (advices.empty())
    return paragraph(
        style, 0,
        {handler.empty()
             ? "Nothing has been measured yet: see measure.interval in kata-cgroupd.toml(5)."
             : "No sandbox of handler '" + handler + "' has been measured."});
  auto out = table(style, columns, rows);
  for (const auto& advice : advices) out += "\n" + advice_text(style, advice);
  return out;
}

Result<Answer> recommendation(const Options& options, const Style& style, Source& source) {
  const auto document = source.recommend(options.handler);
  if (!document) return forward(document.error());
  if (options.json) return Answer{*document};
  const auto advices = parse_advice_document(*document);
  if (!advices) return forward(advices.error());
  return Answer{render_advice(style, *advices, options.handler)};
}

}  // namespace kcg::cgctl
