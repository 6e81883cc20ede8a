// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/registrations.hpp"

#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "base/utf8.hpp"
#include "tools/cgctl/render.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl {

namespace {

using Json = nlohmann::ordered_json;

std::string pod_of(const RegisteredView& view) {
  if (view.pod.name.empty()) return "";
  return view.pod.ns.empty() ? view.pod.name : fmt::format("{}/{}", view.pod.ns, view.pod.name);
}

std::string pid_text(Pid pid) { return pid > 0 ? fmt::format("{}", pid) : ""; }

std::string user_text(std::uint32_t uid) { return uid == 0 ? "root" : fmt::format("{}", uid); }

/// A pod-less one is called by its id, which then needs no column.
Row row_of(const Style& style, const RegisteredView& view) {
  const auto id = style.width && !style.wide ? view.id.substr(0, kShortId) : view.id;
  const auto pod = pod_of(view);
  const auto age = view.since > 0 ? age_text(style.now - view.since) : "";
  return {{{style.width && pod.empty() ? id : pod},
           {age, Paint::none, view.since > 0 ? rfc3339(view.since) : ""},
           {user_text(view.uid), Paint::none, fmt::format("{}", view.uid)},
           {id},
           {pid_text(view.shim_pid)},
           {pid_text(view.vmm_pid)},
           {view.cgroups_path}}};
}

void put(Json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = valid_utf8(text);
}

Json entry(const RegisteredView& view) {
  Json out;
  out["sandbox"] = valid_utf8(view.id);
  if (view.since > 0) out["since"] = rfc3339(view.since);
  out["uid"] = view.uid;
  Json pod = Json::object();
  put(pod, "namespace", view.pod.ns);
  put(pod, "name", view.pod.name);
  put(pod, "uid", view.pod.uid);
  if (!pod.empty()) out["pod"] = std::move(pod);
  put(out, "cgroups_path", view.cgroups_path);
  if (view.shim_pid > 0) out["shim_pid"] = view.shim_pid;
  if (view.vmm_pid > 0) out["vmm_pid"] = view.vmm_pid;
  return out;
}

}  // namespace

std::string render_registrations(const Style& style, const std::vector<RegisteredView>& views) {
  const std::vector<Column> columns = {{"POD"},
                                       {"SINCE", Align::right},
                                       {"BY"},
                                       {"ID"},
                                       {"SHIM", Align::right},
                                       {"VMM", Align::right},
                                       {"CGROUPS PATH", Align::left, Shown::in_a_pipe}};
  std::vector<Row> rows;
  for (const auto& view : views) rows.push_back(row_of(style, view));
  if (!style.width) return table(style, columns, rows);
  if (views.empty())
    return paragraph(style, 0, {"Nothing is registered: all that runs here was found."});
  return table(style, columns, rows) +
         paragraph(style, 0,
                   {count_text(views.size(), "registration") +
                        ". What they say wins over what is found: cgctl explain POD",
                    Paint::none, ""});
}

std::string registrations_document(const std::vector<RegisteredView>& views) {
  Json top;
  top["version"] = 1;
  top["registrations"] = Json::array();
  for (const auto& view : views) top["registrations"].push_back(entry(view));
  return top.dump(2) + "\n";
}

}  // namespace kcg::cgctl
