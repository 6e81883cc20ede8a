// SPDX-License-Identifier: Apache-2.0
//
// uninstall-check and release: the kernel is read, and written, without the daemon.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <thread>

#include "base/run_lock.hpp"
#include "offline/found_node.hpp"
#include "tools/cgctl/bus_source.hpp"
#include "tools/cgctl/failure.hpp"
#include "tools/cgctl/release.hpp"
#include "tools/cgctl/resolve.hpp"
#include "tools/cgctl/unit_limits.hpp"
#include "tools/cgctl/verbs.hpp"

namespace kcg::cgctl {

namespace {

/// Members of a group that are dying are gone by then.
constexpr std::chrono::milliseconds kPause{50};

/// The kernel shows the mark to root alone: others would see no group of ours.
Status for_root() {
  if (::geteuid() == 0) return {};
  return fail(static_cast<int>(ClientError::not_permitted),
              "the mark of our groups can be seen by root only; try again as root");
}

tl::unexpected<Error> enforcing(const std::string& why) {
  return fail(static_cast<int>(ClientError::enforcing),
              "{}, and would place again what is given back: stop it (systemctl stop "
              "kata-cgroupd), or set mode = \"observe\" and run 'cgctl reload', then try again",
              why);
}

/// Nobody may place meanwhile. The lock keeps a daemon from starting; one that observes holds it
/// and writes nothing.
Result<Fd> alone(const Options& options, const Config& config) {
  if (!options.no_daemon) {
    const auto daemon = BusSource::connect(options.bus);
    if (daemon && (*daemon)->state().mode == "observe") return Fd();
    if (daemon) return enforcing("the daemon enforces");
  }
  const auto name = config.run_root + kRunDirectory;
  const auto dir = Dir::open(name);
  if (!dir && dir.error().code == ENOENT) return Fd();  // none has run here
  if (!dir) return forward(dir.error());
  auto lock = take_run_lock(*dir, name);
  if (!lock && lock.error().code == EBUSY)
    return enforcing("a daemon runs (it holds " + name +
                     "/lock) that nobody could ask whether it "
                     "only observes");
  return lock;
}

using Views = std::map<std::string, SandboxView>;

Views by_id(const std::vector<SandboxView>& listed) {
  Views views;
  for (const auto& view : listed) views[view.id] = view;
  return views;
}

SandboxView view_of(const Views& views, const std::string& id) {
  if (const auto known = views.find(id); known != views.end()) return known->second;
  SandboxView view;
  view.id = id;
  return view;
}

}  // namespace

Result<Answer> uninstall_check(const Options& options, const Style& style) {
  if (auto status = for_root(); !status) return forward(status.error());
  const auto config = node_config(options);
  if (!config) return forward(config.error());
  const auto listed = make_node_source(options)->list(false);
  if (!listed) return forward(listed.error());
  const auto found = FoundNode::find(*config);
  if (!found) return forward(found.error());
  auto held = find_held((*found)->tree());
  if (!held) return forward(held.error());
  const auto views = by_id(*listed);
  std::vector<HeldSandboxView> all;
  for (auto& one : *held) {
    auto view = view_of(views, one.id);
    all.push_back({std::move(view), std::move(one)});
  }
  const bool any = std::any_of(all.begin(), all.end(), inhabited);
  return Answer{options.json ? held_document(all) : render_held(style, all),
                any ? Exit::something_wrong : Exit::good};
}

Result<Answer> release(const Options& options, const Style& style) {
  if (auto status = for_root(); !status) return forward(status.error());
  const auto config = node_config(options);
  if (!config) return forward(config.error());
  const auto lock = alone(options, *config);
  if (!lock) return forward(lock.error());
  const auto listed = make_node_source(options)->list(false);
  if (!listed) return forward(listed.error());
  const auto id = options.id.empty() ? Result<std::string>("") : resolve_name(*listed, options.id);
  if (!id) return forward(id.error());
  const auto systemd = make_unit_limits(config->systemd_address);
  const auto released =
      release_node(*config, *id, systemd.get(), [] { std::this_thread::sleep_for(kPause); });
  if (!released) return forward(released.error());
  const auto views = by_id(*listed);
  std::vector<ReleasedView> all;
  for (const auto& one : *released) all.push_back({view_of(views, one.id), one});
  if (all.empty() && !id->empty()) all.push_back({view_of(views, *id), {*id, 0, 0, {}}});
  const bool whole = std::all_of(all.begin(), all.end(), [](const ReleasedView& one) {
    return one.released.problems.empty();
  });
  const auto out =
      options.json ? released_document(all, !id->empty()) : render_released(style, all);
  return Answer{out, whole ? Exit::good : Exit::something_wrong};
}

}  // namespace kcg::cgctl
