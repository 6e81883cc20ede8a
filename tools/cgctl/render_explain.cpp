// SPDX-License-Identifier: Apache-2.0
//
// `explain`: each number and placement with its formula; where the inputs come from is told once,
// in a list at the end.
#include <algorithm>

#include "base/amounts.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "tools/cgctl/document_parts.hpp"
#include "tools/cgctl/limits.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl {

namespace {

using document_parts::array;
using document_parts::field;
using document_parts::Json;

constexpr std::size_t kInputs = 4;

/// Value: where an input comes from: what of it is meant, and the file or whatever else has it.
struct Origin {
  std::string part, where;
};

/// "FILE, key", "annotation k=\"v\" in FILE", "Kata's state, FILE"; all else stands for itself.
Origin origin_of(const std::string& source) {
  if (source.starts_with('/')) {
    const auto comma = source.find(", ");
    if (comma == std::string::npos) return {"", source};
    return {source.substr(comma + 2), source.substr(0, comma)};
  }
  for (const std::string_view between : {" in /", ", /"}) {
    const auto at = source.rfind(between);
    if (at != std::string::npos)
      return {source.substr(0, at), source.substr(at + between.size() - 1)};
  }
  return {"", source};
}

/// Where inputs come from, each told once, in the order in which they are referred to.
class Sources final {
 public:
  /// ", linux.resources.memory.limit [3]"; "" for none.
  std::string mark(const std::string& source) {
    if (source.empty()) return "";
    const auto [part, where] = origin_of(source);
    auto it = std::find(all_.begin(), all_.end(), where);
    if (it == all_.end()) it = all_.insert(all_.end(), where);
    return fmt::format("{}{} [{}]", part.empty() ? "" : ", ", part, it - all_.begin() + 1);
  }
  [[nodiscard]] std::string text(const Style& style, const Json& one) const {
    std::string out;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const auto number = fmt::format("[{}]", i + 1);
      const auto where = all_[i] == field(one, "pod_cgroup")
                             ? document_parts::from_pod(style, one, all_[i])
                             : all_[i];
      out += hanging(style, fmt::format("  {:>4} ", number), {where, Paint::none, ""});
    }
    return out.empty() ? "" : "Sources:\n" + out;
  }

 private:
  std::vector<std::string> all_;
};

std::string topic_of(const std::string& subject) {
  if (subject.starts_with("placement")) return "placement";
  if (subject.starts_with("CPUs") || subject.starts_with("cpuset")) return "cpuset";
  if (subject.starts_with("cpu.")) return "cpu";
  return "memory";
}

/// "at most 862 MiB"; "" where the value speaks for itself.
std::string for_people(const std::string& subject, const std::string& value) {
  const auto key = subject.substr(0, subject.find(' '));
  if (key == "hugepages") return parse_u64(value) ? size_text(*parse_u64(value)) : "";
  return limit_text(key, value).value_or("");
}

/// "350 MiB" of "367001600" and of "367001600 (350 MiB)", all else as it is.
std::string input_text(const std::string& topic, const std::string& value) {
  if (topic != "memory") return value;
  const auto bytes = parse_u64(value.substr(0, value.find(' ')));
  return bytes && *bytes >= kMib ? bytes_text(*bytes) : value;
}

/// Short values stand below each other, right-aligned, as parts of a sum; a long one behind its
/// name.
std::string input_line(const Style& style, const Json& one, const std::string& topic,
                       const Json& input, Sources& sources) {
  constexpr std::size_t kColumn = 9;  // "16384 MiB"
  const auto value = field(input, "value");
  if (field(input, "name") == "other sources")
    return paragraph(style, kInputs, {fmt::format("(other sources: {})", value), Paint::faint, ""});
  const auto shown = document_parts::from_pod(style, one, input_text(topic, value));
  const auto mark = sources.mark(field(input, "source"));
  const auto what = field(input, "name") + (style.raw && shown != value ? " = " + value : "");
  if (columns_of(shown) > kColumn)
    return paragraph(style, kInputs,
                     {fmt::format("{} = {}{}", what, shown, mark), Paint::none, ""});
  const auto pad = std::string(kInputs + kColumn - columns_of(shown), ' ');
  return hanging(style, fmt::format("{}{}  ", pad, shown), {what + mark, Paint::none, ""});
}

std::string explanation(const Style& style, const Json& one, const Json& each, Sources& sources) {
  const auto subject = field(each, "subject");
  const auto topic = topic_of(subject);
  const auto value = field(each, "value");
  const auto path = field(each, "path");
  const auto people = for_people(subject, value);
  const auto shown = value == path ? document_parts::from_pod(style, one, path) : value;
  const auto now = field(each, "in_force");
  const auto force = now.empty() ? "" : now == value ? ", in force" : ", now: " + now;
  auto head = people.empty()
                  ? fmt::format("{} = {}{}", subject, shown, force)
                  : fmt::format("{}: {} ({} = {}{})", topic, people, subject, value, force);
  std::string out = paragraph(style, 0, {head, Paint::strong, ""});
  const auto formula = field(each, "formula");
  const bool bytes = topic == "memory" && !style.raw;
  const auto numbers = bytes ? formula_text(formula) : formula;
  if (!formula.empty())
    out += hanging(style, "  = ", {document_parts::from_pod(style, one, numbers), Paint::none, ""});
  for (const auto& input : array(each, "inputs"))
    out += input_line(style, one, topic, input, sources);
  const auto change = field(each, "change");
  if (!change.empty()) out += paragraph(style, 2, {"To change it: " + change, Paint::none, ""});
  return out;
}

}  // namespace

Result<std::string> render_explain(const Style& style, const std::string& document,
                                   const std::string& topic, const Titles& titles) {
  const auto all = document_parts::sandboxes(document);
  if (!all) return forward(all.error());
  if (all->empty()) return "No sandbox runs here.\n";
  std::string out;
  for (const auto& one : *all) {
    if (!out.empty()) out += "\n";
    out += document_parts::heading(style, one, titles);
    Sources sources;
    std::string body;
    for (const auto& each : array(one, "explanations"))
      if (topic.empty() || topic == topic_of(field(each, "subject")))
        body += explanation(style, one, each, sources);
    if (body.empty()) body = "Nothing is limited or placed here yet.\n";
    out += body + document_parts::conditions(style, one) + sources.text(style, one);
  }
  return out;
}

}  // namespace kcg::cgctl
