// SPDX-License-Identifier: Apache-2.0
#include "offline/inspection.hpp"

#include <cerrno>
#include <optional>

#include "base/flat_set.hpp"
#include "history/condition_news.hpp"
#include "observe/usage.hpp"
#include "offline/found_node.hpp"
#include "plan/desired.hpp"

namespace kcg {

namespace {

/// What it uses beside its guest; nullopt: not known.
std::optional<std::uint64_t> overhead_of(FoundNode& node, const SandboxView& view,
                                         const FlatSet<Trusted>& trusted,
                                         const SandboxInputs& inputs) {
  auto target = measure_target(view, trusted);
  if (!target) return std::nullopt;
  const auto world = node.world();
  target->ram = [&, vmm = target->vmm] { return ram_of(world.proc, vmm, inputs); };
  Measuring measuring;
  measure(world.tree, world.proc, world.clock, *target, measuring);
  return measuring.use.overhead;
}

}  // namespace

Result<NodeInspection> inspect_node(const Config& config) {
  const auto found = FoundNode::find(config);
  if (!found) return forward(found.error());
  const auto mode = (*found)->tree().host().mode;

  NodeInspection node;
  node.hierarchy = mode;
  Config looking = config;
  looking.mode = Mode::observe;
  for (auto& [id, record] : (*found)->records()) {
    const auto assembled = (*found)->inputs(id);
    const bool marked = !record.found_groups.empty();
    auto pass = run_pass((*found)->world(), {looking, assembled, std::nullopt}, record);
    for (auto& view : ignored_bundles(assembled)) node.ignored.push_back(std::move(view));
    if (!pass.last) return fail(EIO, "sandbox '{}': {}", id.str(), pass.failed_step->text);
    auto& seen = *pass.last;
    if (!seen.observed.proven_kata && !marked) {
      node.ignored.push_back(ignored_view(assembled));
      continue;
    }
    auto view = make_view(seen.observed, seen.want, seen.plan, standing_of(record));
    view.threads = thread_views(seen.observed, seen.want);
    view.overhead_used = overhead_of(**found, view, record.trusted, assembled.inputs);
    node.sandboxes.push_back({std::move(view),
                              {id.str(), mode, std::move(seen.want), std::move(seen.plan),
                               conditions_of(record), explanations(looking, seen.observed)}});
  }
  return node;
}

}  // namespace kcg
