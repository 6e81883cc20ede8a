// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/doctor/report.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/clock.hpp"
#include "base/dir.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "base/version.hpp"
#include "config/dump.hpp"
#include "show/amiss.hpp"
#include "show/history_documents.hpp"
#include "show/view_documents.hpp"
#include "tools/cgctl/bus_source.hpp"
#include "tools/cgctl/source.hpp"
#include "tools/cgctl/verbs.hpp"

namespace kcg::cgctl::doctor {

namespace {

using Json = nlohmann::ordered_json;
using Form = Part::Form;

/// Of those that need a look; the overview has all.
constexpr std::size_t kMostShown = 50;

Json content(const Part& part) {
  if (!part.content) return {{"error", valid_utf8(part.content.error().text)}};
  if (part.form == Form::text) return valid_utf8(*part.content);
  if (part.form == Form::json) {
    auto parsed = Json::parse(*part.content, nullptr, false);
    return parsed.is_discarded() ? Json(valid_utf8(*part.content)) : parsed;
  }
  Json out = Json::array();
  for (const auto line : lines(*part.content)) out.push_back(valid_utf8(line));
  return out;
}

/// What of other products' configuration is read, and no more of it.
std::string kata_part(const Facts& facts) {
  Json out = Json::object();
  if (facts.kata && *facts.kata) {
    const auto& [path, words] = **facts.kata;
    out["file"] = valid_utf8(path);
    if (words.only) out["sandbox_cgroup_only"] = words.only->value;
    if (words.pinning) out["enable_vcpus_pinning"] = words.pinning->value;
    out["runtime_rs"] = words.rust;
    for (const auto& [hypervisor, list] : words.annotations)
      for (const auto& pattern : list.patterns)
        out["enable_annotations"][valid_utf8(hypervisor)].push_back(valid_utf8(pattern));
  }
  if (facts.containerd)
    for (const auto& [path, runtime] : *facts.containerd)
      for (const auto& pattern : runtime.pod_annotations)
        out["pod_annotations"][valid_utf8(runtime.name)].push_back(valid_utf8(pattern));
  for (const auto& file : facts.named) {
    auto& one = out["named_files"][valid_utf8(file.engine)][valid_utf8(file.runtime)];
    one["file"] = valid_utf8(file.path);
    if (file.only) one["sandbox_cgroup_only"] = file.only->value;
  }
  if (facts.crio && !facts.crio->cgroup_manager.empty())
    out["crio_cgroup_manager"] = valid_utf8(facts.crio->cgroup_manager);
  if (facts.kubelet_driver && !facts.kubelet_driver->empty())
    out["kubelet_cgroup_driver"] = valid_utf8(*facts.kubelet_driver);
  return out.dump();
}

Result<std::string> cgroup_mounts() {
  const auto proc = Dir::open("/proc/self");
  if (!proc) return forward(proc.error());
  const auto text = proc->read_kernel("mountinfo");
  if (!text) return forward(text.error());
  std::string out;
  for (const auto line : lines(*text))
    if (line.find(" - cgroup") != std::string_view::npos ||
        line.find(" - debugfs") != std::string_view::npos)
      out += fmt::format("{}\n", line);
  return out;
}

/// Each of the first that need a look, whole.
std::string failing_ones(Source& source, const std::vector<SandboxView>& views) {
  Json out = Json::array();
  for (const auto& view : views) {
    if (!failing(view) || out.size() >= kMostShown) continue;
    const auto whole = source.view(view.id);
    if (whole) out.push_back(Json::parse(show_document(*whole), nullptr, false));
  }
  return out.dump();
}

std::string status_part(const Facts& facts) {
  Options json;
  json.json = true;
  const auto views = facts.sandboxes.value_or(std::vector<SandboxView>());
  return status_answer(json, {}, facts.daemon, views).out;
}

void add_sandboxes(Source& source, std::vector<Part>& parts) {
  const auto views = source.list(true);
  if (!views) return parts.push_back({"list", Form::json, forward(views.error())});
  parts.push_back({"list", Form::json, list_document(*views)});
  parts.push_back({"failing", Form::json, failing_ones(source, *views)});
  parts.push_back({"plan", Form::json, source.plan("")});
  parts.push_back({"explain", Form::json, source.explain("")});
  const auto histories = source.events("");
  parts.push_back({"events", Form::json,
                   histories ? Result<std::string>(history_document(*histories, false))
                             : forward(histories.error())});
}

}  // namespace

std::string report_document(std::int64_t now, const std::vector<Finding>& findings,
                            const std::vector<Part>& parts) {
  Json top;
  top["version"] = 1;
  top["time"] = rfc3339(now);
  top["cgctl"] = version();
  top["doctor"] = Json::parse(document(findings));
  for (const auto& part : parts) top[part.name] = content(part);
  return top.dump(2) + "\n";
}

std::vector<Part> gather_parts(const Options& options, const Facts& facts) {
  std::vector<Part> parts = {
      {"kernel", Form::text, facts.kernel},
      {"mounts", Form::lines, cgroup_mounts()},
      {"config", Form::lines, facts.config.map([](const auto& config) { return dump(config); })},
      {"kata", Form::json, kata_part(facts)},
      {"status", Form::json, status_part(facts)}};
  auto daemon = facts.daemon.running ? BusSource::connect(options.bus)
                                     : Result<std::unique_ptr<BusSource>>(fail(0, "it is gone"));
  if (daemon)
    add_sandboxes(**daemon, parts);
  else
    add_sandboxes(*make_node_source(options), parts);
  parts.push_back({"journal", Form::lines, journal_lines()});
  return parts;
}

Result<ReportFile> ReportFile::create(const std::string& path) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (const int code = errno; !fd)
    return fail(code, "{}: {}{}", path, errno_text(code),
                code == EEXIST ? ": name a file that is not there yet" : "");
  return ReportFile(path, std::move(fd));
}

ReportFile::ReportFile(ReportFile&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::move(other.fd_)),
      kept_(std::exchange(other.kept_, true)) {}

ReportFile::~ReportFile() {
  if (!kept_) (void)::unlink(path_.c_str());  // ignored: nobody is left to be told
}

Status ReportFile::write(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t count = ::write(fd_.get(), text.data() + at, text.size() - at);
    const int code = errno;
    if (count < 0 && code == EINTR) continue;
    if (count <= 0) return fail(code, "{}: {}", path_, errno_text(code));
    at += static_cast<std::size_t>(count);
  }
  if (::fsync(fd_.get()) != 0 && errno != EINVAL) {
    const int code = errno;
    return fail(code, "{}: {}", path_, errno_text(code));
  }
  kept_ = true;
  return {};
}

}  // namespace kcg::cgctl::doctor
