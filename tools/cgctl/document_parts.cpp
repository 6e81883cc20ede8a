// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/document_parts.hpp"

#include "tools/cgctl/render.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl::document_parts {

namespace {

Paint paint_of_severity(const std::string& severity) {
  if (severity == "error") return Paint::bad;
  return severity == "warning" ? Paint::warning : Paint::none;
}

}  // namespace

std::string field(const Json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end() || it->is_null()) return "";
  return printable(it->is_string() ? it->get<std::string>() : it->dump());
}

const Json& array(const Json& object, const char* key) {
  static const Json kEmpty = Json::array();
  const auto it = object.find(key);
  return it == object.end() || !it->is_array() ? kEmpty : *it;
}

Result<std::vector<Json>> sandboxes(const std::string& document) {
  auto top = Json::parse(document, nullptr, false);
  if (!top.is_object() || top.value("version", Json()) != 1)
    return fail(0,
                "the daemon sent a document that is not of version 1; do the versions of cgctl "
                "and kata-cgroupd agree?");
  if (!top.contains("sandboxes")) return std::vector<Json>{std::move(top)};
  return array(top, "sandboxes").get<std::vector<Json>>();
}

std::string heading(const Style& style, const Json& one, const Titles& titles) {
  const auto id = field(one, "sandbox");
  const auto found = titles.find(id);
  const auto shown = style.wide ? id : id.substr(0, kShortId);
  std::string out =
      painted(style, Paint::strong, found == titles.end() ? shown : printable(found->second));
  if (found != titles.end() && !found->second.ends_with(shown)) out += "  " + shown;
  const auto about =
      fmt::format("{} (from: {}), {} driver, cgroup {}", field(one, "layout"),
                  field(one, "layout_source"), field(one, "driver"), field(one, "hierarchy"));
  out += "\n" + paragraph(style, 2, {about, Paint::faint, ""});
  const auto pod = field(one, "pod_cgroup");
  return out + (pod.empty() ? "" : pod + "\n");
}

std::string conditions(const Style& style, const Json& one) {
  std::string out;
  for (const auto& condition : array(one, "conditions")) {
    const auto severity = field(condition, "severity");
    const auto text = fmt::format("{} ({}): {}", field(condition, "name"), severity,
                                  from_pod(style, one, field(condition, "text")));
    out += paragraph(style, 2, {text, paint_of_severity(severity), ""});
  }
  return out;
}

std::string from_pod(const Style& style, const Json& one, const std::string& text) {
  const auto pod = field(one, "pod_cgroup");
  if (style.wide) return text;
  return shorter_id(style, field(one, "sandbox"), seen_from(pod, "the pod's group", text));
}

}  // namespace kcg::cgctl::document_parts
