// SPDX-License-Identifier: Apache-2.0
#include "identify/disagree.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace kcg {

namespace {

std::string_view last_component(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// The pod's own group, without the way to it: "pod1" of "/kubepods/pod1/ID", "kubepods-pod1.slice"
/// of "kubepods-pod1.slice:cri-containerd:ID".
std::string_view pod_group(std::string_view cgroups_path) {
  const auto colon = cgroups_path.find(':');
  if (colon != std::string_view::npos) return last_component(cgroups_path.substr(0, colon));
  const auto slash = cgroups_path.rfind('/');
  return slash == std::string_view::npos ? "" : last_component(cgroups_path.substr(0, slash));
}

/// Value: one thing that both tell.
struct Pair {
  const char* what;
  std::string_view bundle, node;
};

}  // namespace

std::optional<Condition> node_data_disagreement(const SandboxInputs& inputs) {
  if (!inputs.bundle || !inputs.node) return std::nullopt;
  const auto& bundle = *inputs.bundle;
  const auto& node = *inputs.node;
  const std::array<Pair, 5> pairs = {{
      {"pod's namespace", bundle.pod.ns, node.pod.ns},
      {"pod's name", bundle.pod.name, node.pod.name},
      {"pod's uid", bundle.pod.uid, node.pod.uid},
      {"runtime handler", bundle.handler, node.handler},
      {"pod's cgroup", pod_group(bundle.cgroups_path), last_component(node.cgroup_parent)},
  }};
  for (const auto& [what, ours, theirs] : pairs)
    if (!ours.empty() && !theirs.empty() && ours != theirs)
      return Condition{
          ConditionName::node_data_disagrees,
          fmt::format("the {} is \"{}\" in {}/config.json and \"{}\" in what the engine tells "
                      "through NRI; the bundle counts",
                      what, escaped(ours, 128), escaped(bundle.directory), escaped(theirs, 128))};
  return std::nullopt;
}

}  // namespace kcg
