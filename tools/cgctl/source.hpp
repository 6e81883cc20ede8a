// SPDX-License-Identifier: Apache-2.0
//
// Where the reading verbs get their values: from the daemon, or from the kernel directly. Both give
// the same values, so there is one renderer and one writer of JSON.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/config.hpp"
#include "model/sandbox_history.hpp"
#include "model/view.hpp"
#include "tools/cgctl/options.hpp"

namespace kcg::cgctl {

/// Interface: `id` is a full one; "" = all for plan and explain.
class Source {
 public:
  virtual ~Source() = default;
  /// Sorted by id. With `ignored` also bundles that are not managed.
  [[nodiscard]] virtual Result<std::vector<SandboxView>> list(bool ignored) = 0;
  /// With threads and groups.
  [[nodiscard]] virtual Result<SandboxView> view(const std::string& id) = 0;
  /// Whoever repairs has done it afterwards; nobody does without the daemon.
  virtual void wait_for_repairs() {}
  [[nodiscard]] virtual Result<std::string> plan(const std::string& id) = 0;
  [[nodiscard]] virtual Result<std::string> explain(const std::string& id) = 0;
  /// The document of `recommend`; "" = of all handlers.
  [[nodiscard]] virtual Result<std::string> recommend(const std::string& handler) = 0;
  /// What has happened; "" = to all, also to those that have ended.
  [[nodiscard]] virtual Result<std::vector<SandboxHistory>> events(const std::string& id) = 0;
};

/// The node itself, without the daemon.
[[nodiscard]] std::unique_ptr<Source> make_node_source(const Options& options);

/// The configuration that the daemon would use, as far as this user can read it.
[[nodiscard]] Result<Config> node_config(const Options& options);

/// `plan --bundle`.
[[nodiscard]] Result<std::string> plan_of_bundles(const Options& options);

}  // namespace kcg::cgctl
