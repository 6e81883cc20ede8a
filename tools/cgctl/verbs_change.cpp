// SPDX-License-Identifier: Apache-2.0
//
// reconcile, register, unregister: the daemon does them.
#include <nlohmann/json.hpp>

#include "tools/cgctl/bus_source.hpp"
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
  const auto steps = daemon.reconcile(options.id, options.adopt);
  if (!steps) return forward(steps.error());
  return answer(options, {{"steps_applied", *steps}},
                *steps == 0 ? "nothing to do" : fmt::format("{} steps applied", *steps));
}

}  // namespace

bool changes_something(Verb verb) {
  return verb == Verb::reconcile || verb == Verb::register_sandbox ||
         verb == Verb::unregister_sandbox;
}

Result<Answer> change(const Options& options, BusSource& daemon) {
  if (options.verb == Verb::reconcile) return reconcile(options, daemon);
  const bool add = options.verb == Verb::register_sandbox;
  const auto status = add ? daemon.register_sandbox(options.id, options.registration)
                          : daemon.unregister_sandbox(options.id);
  if (!status) return forward(status.error());
  return answer(options, {{"sandbox", options.id}}, add ? "registered" : "unregistered");
}

}  // namespace kcg::cgctl
