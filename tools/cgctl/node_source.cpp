// SPDX-License-Identifier: Apache-2.0
//
// The node itself, without the daemon: bundles, /proc and cgroups are read directly. Nothing is
// written.
#include <cerrno>

#include "base/run_lock.hpp"
#include "base/text.hpp"
#include "cgroup/host.hpp"
#include "daemon/manager.hpp"
#include "observe/bundle_plan.hpp"
#include "observe/config_files.hpp"
#include "observe/history_files.hpp"
#include "observe/survey_file.hpp"
#include "offline/inspection.hpp"
#include "show/plan_documents.hpp"
#include "show/survey_documents.hpp"
#include "show/view.hpp"
#include "tools/cgctl/source.hpp"

namespace kcg::cgctl {

namespace {

/// Looks once, at the first question: one command shows one moment.
class NodeSource final : public Source {
 public:
  explicit NodeSource(const Options& options) : options_(options) {}

  [[nodiscard]] Result<std::vector<SandboxView>> list(bool ignored) override;
  [[nodiscard]] Result<SandboxView> view(const std::string& id) override;
  [[nodiscard]] Result<std::string> plan(const std::string& id) override;
  [[nodiscard]] Result<std::string> explain(const std::string& id) override;
  [[nodiscard]] Result<std::string> recommend(const std::string& handler) override;
  [[nodiscard]] Result<std::vector<SandboxHistory>> events(const std::string& id) override;

 private:
  [[nodiscard]] Status look();
  [[nodiscard]] Result<const Inspection*> find(const std::string& id);
  [[nodiscard]] Result<std::vector<Planned>> planned(const std::string& id);

  const Options& options_;
  std::optional<NodeInspection> node_;
};

Status NodeSource::look() {
  if (node_) return {};
  const auto config = node_config(options_);
  if (!config) return forward(config.error());
  auto node = inspect_node(*config);
  if (!node) return forward(node.error());
  node_ = *std::move(node);
  return {};
}

Result<const Inspection*> NodeSource::find(const std::string& id) {
  if (auto status = look(); !status) return forward(status.error());
  for (const auto& one : node_->sandboxes)
    if (one.view.id == id) return &one;
  return fail(static_cast<int>(ManagerError::no_such_sandbox), "no sandbox '{}'", escaped(id));
}

Result<std::vector<SandboxView>> NodeSource::list(bool ignored) {
  if (auto status = look(); !status) return forward(status.error());
  std::vector<SandboxView> views;
  for (const auto& one : node_->sandboxes) views.push_back(one.view);
  if (ignored) views.insert(views.end(), node_->ignored.begin(), node_->ignored.end());
  return views;
}

Result<SandboxView> NodeSource::view(const std::string& id) {
  const auto found = find(id);
  if (!found) return forward(found.error());
  return (*found)->view;
}

Result<std::vector<Planned>> NodeSource::planned(const std::string& id) {
  std::vector<Planned> all;
  if (id.empty()) {
    if (auto status = look(); !status) return forward(status.error());
    for (const auto& one : node_->sandboxes) all.push_back(one.planned);
    return all;
  }
  const auto found = find(id);
  if (!found) return forward(found.error());
  all.push_back((*found)->planned);
  return all;
}

Result<std::string> NodeSource::plan(const std::string& id) {
  const auto all = planned(id);
  if (!all) return forward(all.error());
  return plan_document(*all, !id.empty());
}

Result<std::string> NodeSource::explain(const std::string& id) {
  const auto all = planned(id);
  if (!all) return forward(all.error());
  return explain_document(*all, !id.empty());
}

/// What the daemon has left behind in its run directory.
Result<std::vector<SandboxHistory>> NodeSource::events(const std::string& id) {
  const auto config = node_config(options_);
  if (!config) return forward(config.error());
  const auto dir = Dir::open(config->run_root + kRunDirectory);
  if (!dir && dir.error().code == ENOENT) return std::vector<SandboxHistory>{};
  if (!dir) return forward(dir.error());
  auto found = read_histories(*dir);
  if (!found) return forward(found.error());
  if (found->histories.empty() && !found->wrong.empty())
    return fail(0, "{}: {}", found->wrong.front().first, found->wrong.front().second);
  if (!id.empty())
    std::erase_if(found->histories, [&](const SandboxHistory& one) { return one.id != id; });
  return std::move(found->histories);
}

/// What the daemon has kept of those that have ended, and what it has left behind of others.
Result<std::string> NodeSource::recommend(const std::string& handler) {
  const auto config = node_config(options_);
  if (!config) return forward(config.error());
  const auto histories = events("");
  if (!histories) return forward(histories.error());
  std::map<std::string, SandboxHistory> all;
  for (const auto& history : *histories) all[history.id] = history;
  const auto dir = Dir::open(config->run_root + kStateDirectory);
  if (!dir && dir.error().code != ENOENT) return forward(dir.error());
  auto survey = dir ? read_survey(*dir) : Survey();
  if (!survey) return forward(survey.error(), config->run_root + kStateDirectory);
  return advice_document(
      advice_of(with_living(*std::move(survey), all, SystemClock().wall_seconds()), handler));
}

/// What was assumed, else what the configuration says, else what this machine has, else v2.
HierarchyMode assumed_hierarchy(const Options& options, const Config& config) {
  if (options.assumed) return *options.assumed;
  if (config.cgroup.hierarchy == HierarchyChoice::v1) return HierarchyMode::v1;
  if (config.cgroup.hierarchy == HierarchyChoice::v2) return HierarchyMode::v2;
  const auto host = discover_host(config.cgroup);
  return host ? host->mode : HierarchyMode::v2;
}

}  // namespace

Result<Config> node_config(const Options& options) {
  auto config = config_in_force({options.config_file,
                                 {{"cgroup.root", options.cgroup_root, "--cgroup-root"}},
                                 options.run_root});
  if (!config) return fail(static_cast<int>(ManagerError::config), "{}", config.error().text);
  return config;
}

std::unique_ptr<Source> make_node_source(const Options& options) {
  return std::make_unique<NodeSource>(options);
}

Result<std::string> plan_of_bundles(const Options& options) {
  const auto config = node_config(options);
  if (!config) return forward(config.error());
  const auto planned = plan_bundles(*config, options.bundles, assumed_hierarchy(options, *config));
  if (!planned) return forward(planned.error());
  const bool plan = options.verb == Verb::plan;
  return plan ? plan_document({*planned}, true) : explain_document({*planned}, true);
}

}  // namespace kcg::cgctl
