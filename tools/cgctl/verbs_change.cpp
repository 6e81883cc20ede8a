// SPDX-License-Identifier: Apache-2.0
//
// reconcile, register, unregister, reload: the daemon does them. And check-config, which needs
// none.
#include <nlohmann/json.hpp>

#include "config/dump.hpp"
#include "tools/cgctl/bus_source.hpp"
#include "tools/cgctl/failure.hpp"
#include "tools/cgctl/resolve.hpp"
#include "tools/cgctl/verbs.hpp"

namespace kcg::cgctl {

namespace {

using Json = nlohmann::ordered_json;

Answer answer(const Options& options, const Json& fields, const std::string& text) {
  if (!options.json) return {text + "\n"};
  Json top;
  top["version"] = 1;
  top.update(fields);
  return {top.dump(2) + "\n"};
}

Result<Answer> reconcile(const Options& options, BusSource& daemon) {
  const auto id = full_id(options.id, daemon);
  if (!id) return forward(id.error());
  const auto steps = daemon.reconcile(*id, options.adopt);
  if (!steps) return forward(steps.error());
  return answer(options, {{"steps_applied", *steps}},
                *steps == 0 ? "nothing to do"
                            : fmt::format("{} step{} applied", *steps, *steps == 1 ? "" : "s"));
}

/// What changed at once is told; the rest the daemon has said in its journal.
Result<Answer> reload(const Options& options, BusSource& daemon) {
  const auto before = daemon.state().mode;
  if (auto status = daemon.reload(); !status) return forward(status.error());
  const auto now = daemon.look_again().mode;
  const auto mode =
      before == now ? fmt::format("mode {}", now) : fmt::format("mode {} -> {}", before, now);
  return answer(options, {{"mode", now}}, "The configuration was read again: " + mode + ".");
}

}  // namespace

bool changes_something(Verb verb) {
  return verb == Verb::reconcile || verb == Verb::register_sandbox ||
         verb == Verb::unregister_sandbox || verb == Verb::reload;
}

Result<Answer> check_config(const Options& options) {
  const auto config = node_config(options);
  if (!config) return forward(config.error());
  const auto toml = dump(*config);
  return answer(options, {{"config", toml}}, toml + "# The configuration is valid.");
}

Result<Answer> change(const Options& options, BusSource& daemon) {
  if (options.verb == Verb::reconcile) return reconcile(options, daemon);
  if (options.verb == Verb::reload) return reload(options, daemon);
  const bool add = options.verb == Verb::register_sandbox;
  // What was registered need not be a sandbox (yet): then its full id is what was typed.
  const auto known = add ? Result<std::string>(options.id) : full_id(options.id, daemon);
  if (!known && failure_exit(known.error()) != Exit::no_such_sandbox) return forward(known.error());
  const auto id = known.value_or(options.id);
  const auto status =
      add ? daemon.register_sandbox(id, options.registration) : daemon.unregister_sandbox(id);
  if (!status) return forward(status.error());
  return answer(options, {{"sandbox", id}}, add ? "registered" : "unregistered");
}

}  // namespace kcg::cgctl
