// SPDX-License-Identifier: Apache-2.0
#include "offline/found_node.hpp"

#include <utility>

#include "cgroup/host.hpp"
#include "observe/bundle_dirs.hpp"
#include "observe/kata_config.hpp"
#include "observe/scan.hpp"

namespace kcg {

namespace {

/// Whoever asked waits for what takes the kernel a while to tell.
constexpr PatientReader::Limits kPatient = {
    KernelProc::kMappings.threads, std::chrono::milliseconds(500), KernelProc::kMappings.bytes};

}  // namespace

/// Everything that the daemon would have learned from its sources.
FoundNode::FoundNode(const Config& config, std::unique_ptr<KernelTree> tree,
                     std::unique_ptr<KernelProc> proc)
    : tree_(std::move(tree)), proc_(std::move(proc)), inputs_(config, clock_) {
  inputs_.set_kata_config(read_kata_config(config.discovery));
  for (const auto& origin : list_bundles(config.discovery))
    (void)inputs_.bundle_changed(origin);  // ignored: problems come back as conditions
  for (const auto& id : inputs_.ids()) (void)inputs_.state_changed(id);  // ignored: likewise
  for (const auto& id : inputs_.ids()) records_[id] = one_look();
  for (auto& [id, pids] :
       find_shims(*proc_, [this](const std::string& dir) { return inputs_.sandbox_in(dir); }))
    if (inputs_.known(id)) records_[id].shim_candidates = std::move(pids);
  for (auto& [id, groups] : find_marked(*tree_)) records_[id].found_groups = FoundGroups(groups);
}

Result<std::unique_ptr<FoundNode>> FoundNode::find(const Config& config) {
  auto host = discover_host(config.cgroup);
  if (!host) return forward(host.error());
  auto tree = KernelTree::open(*std::move(host), config.run_root);
  if (!tree) return forward(tree.error());
  auto proc = KernelProc::open("/proc", kKvmDebugfs, KernelProc::kMaxKept, {}, kPatient);
  if (!proc) return forward(proc.error());
  if (auto status = bundles_readable(config.discovery); !status) return forward(status.error());
  return std::unique_ptr<FoundNode>(new FoundNode(config, *std::move(tree), *std::move(proc)));
}

}  // namespace kcg
