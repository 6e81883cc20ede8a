// SPDX-License-Identifier: Apache-2.0
#include "show/survey_documents.hpp"

#include <utility>

#include "show/documents_json.hpp"

namespace kcg {

namespace {

using json_parts::Json;
using json_parts::put_known;
using json_parts::Reader;
using json_parts::time_text;

/// Nobody counts so many; sums of them do not overflow.
constexpr std::uint64_t kMostTimes = std::uint64_t{1} << 40;

std::string document_of(const std::vector<Json>& handlers) {
  Json top;
  top["version"] = 1;
  top["handlers"] = handlers;
  return top.dump(2) + "\n";
}

/// Reads each of "handlers" with `read(Reader&)`.
template <class Read>
Status each_handler(const std::string& text, Read&& read) {
  const auto top = Json::parse(text, nullptr, false);
  if (!top.is_object() || top.value("version", Json()) != 1)
    return fail(0, "not a document of version 1");
  Reader of_top(top);
  const auto& all = of_top.list("handlers");
  if (!of_top.wrong().empty()) return fail(0, "{}", of_top.wrong());
  for (const auto& one : all) {
    Reader in(one);
    read(in);
    if (!in.wrong().empty()) return fail(0, "a handler: {}", in.wrong());
  }
  return {};
}

Json class_json(std::uint64_t guest, const OverheadClass& seen) {
  Json object;
  object["guest_up_to_bytes"] = guest;
  object["largest_bytes"] = seen.largest;
  object["declared_least_bytes"] = seen.declared_least;
  object["declared_most_bytes"] = seen.declared_most;
  auto steps = Json::array();
  for (const auto& [step, times] : seen.peaks.steps()) steps.push_back({step, times});
  object["steps"] = steps;
  return object;
}

OverheadClass class_from(Reader& in) {
  OverheadClass seen;
  seen.largest = in.number("largest_bytes");
  seen.declared_least = in.number("declared_least_bytes");
  seen.declared_most = in.number("declared_most_bytes");
  for (const auto& pair : in.list("steps")) {
    const bool good = pair.is_array() && pair.size() == 2 && pair[0].is_number_unsigned() &&
                      pair[1].is_number_unsigned() && pair[0] < Histogram::kSteps &&
                      pair[1] <= kMostTimes;
    if (good)
      seen.peaks.count_in(pair[0].get<Histogram::Step>(), pair[1].get<std::uint64_t>());
    else
      in.refuse("steps", "has something else than a step and how often it was seen");
  }
  return seen;
}

Json handler_json(const std::string& handler, const HandlerSurvey& seen) {
  Json object;
  object["handler"] = json_parts::text(handler);
  put_known(object, "first", time_text(seen.first));
  put_known(object, "last", time_text(seen.last));
  const auto& growth = seen.growth;
  object["growth"] = {{"count", growth.count},
                      {"ram", growth.ram},
                      {"overhead", growth.overhead},
                      {"ram_squared", growth.ram_squared},
                      {"product", growth.product}};
  auto classes = Json::array();
  for (const auto& [guest, one] : seen.by_guest) classes.push_back(class_json(guest, one));
  object["by_guest"] = classes;
  return object;
}

HandlerSurvey handler_from(Reader& in) {
  HandlerSurvey seen;
  seen.first = in.time("first");
  seen.last = in.time("last");
  static const Json kNone;
  const auto* sums = in.find("growth");
  Reader growth(sums == nullptr ? kNone : *sums);
  seen.growth = {growth.number("count"), growth.real("ram"), growth.real("overhead"),
                 growth.real("ram_squared"), growth.real("product")};
  if (!growth.wrong().empty()) in.refuse("growth:", growth.wrong());
  for (const auto& one : in.list("by_guest")) {
    Reader of_class(one);
    const auto guest = of_class.number("guest_up_to_bytes");
    // A size of guest that is none of ours would be one more, and they are few.
    if (guest_class(guest) != guest) of_class.refuse("guest_up_to_bytes", "is no power of two");
    seen.by_guest[guest] = class_from(of_class);
    if (!of_class.wrong().empty()) in.refuse("by_guest:", of_class.wrong());
  }
  return seen;
}

void put_spread(Json& object, const OverheadSpread& spread) {
  object["sandboxes"] = spread.sandboxes;
  if (spread.declared_most > 0) {
    object["declared_least_bytes"] = spread.declared_least;
    object["declared_most_bytes"] = spread.declared_most;
  }
  object["p50_bytes"] = spread.half;
  object["p95_bytes"] = spread.ninety_five;
  object["p99_bytes"] = spread.ninety_nine;
  object["largest_bytes"] = spread.largest;
}

OverheadSpread spread_from(Reader& in) {
  OverheadSpread spread;
  spread.sandboxes = in.number("sandboxes");
  spread.declared_least = in.number("declared_least_bytes");
  spread.declared_most = in.number("declared_most_bytes");
  spread.half = in.number("p50_bytes");
  spread.ninety_five = in.number("p95_bytes");
  spread.ninety_nine = in.number("p99_bytes");
  spread.largest = in.number("largest_bytes");
  return spread;
}

Json advice_json(const OverheadAdvice& advice) {
  Json object;
  object["handler"] = json_parts::text(advice.handler);
  put_spread(object, advice.all);
  put_known(object, "first", time_text(advice.first));
  put_known(object, "last", time_text(advice.last));
  if (advice.growth) object["growth_bytes_per_gib"] = *advice.growth;
  if (advice.declare) object["declare_bytes"] = *advice.declare;
  put_known(object, "too_early", advice.too_early);
  auto classes = Json::array();
  for (const auto& [guest, spread] : advice.by_guest) {
    Json one = Json::object();
    if (guest > 0) one["guest_up_to_bytes"] = guest;
    put_spread(one, spread);
    classes.push_back(one);
  }
  object["by_guest"] = classes;
  return object;
}

OverheadAdvice advice_from(Reader& in) {
  OverheadAdvice advice;
  advice.handler = in.text("handler");
  advice.all = spread_from(in);
  advice.first = in.time("first");
  advice.last = in.time("last");
  if (in.find("growth_bytes_per_gib") != nullptr)
    advice.growth = static_cast<std::int64_t>(in.real("growth_bytes_per_gib"));
  if (in.find("declare_bytes") != nullptr) advice.declare = in.number("declare_bytes");
  advice.too_early = in.text("too_early");
  for (const auto& one : in.list("by_guest")) {
    Reader of_class(one);
    const auto guest = of_class.number("guest_up_to_bytes");
    advice.by_guest[guest] = spread_from(of_class);
    if (!of_class.wrong().empty()) in.refuse("by_guest:", of_class.wrong());
  }
  return advice;
}

}  // namespace

std::string survey_document(const Survey& survey) {
  std::vector<Json> all;
  for (const auto& [handler, seen] : survey.handlers()) all.push_back(handler_json(handler, seen));
  return document_of(all);
}

Result<Survey> parse_survey_document(const std::string& text) {
  Survey survey;
  auto read = each_handler(
      text, [&survey](Reader& in) { survey.restore(in.text("handler"), handler_from(in)); });
  if (!read) return forward(read.error());
  return survey;
}

std::string advice_document(const std::vector<OverheadAdvice>& advices) {
  std::vector<Json> all;
  for (const auto& advice : advices) all.push_back(advice_json(advice));
  return document_of(all);
}

Result<std::vector<OverheadAdvice>> parse_advice_document(const std::string& text) {
  std::vector<OverheadAdvice> all;
  auto read = each_handler(text, [&all](Reader& in) { all.push_back(advice_from(in)); });
  if (!read) return forward(read.error());
  return all;
}

}  // namespace kcg
