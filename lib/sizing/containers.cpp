// SPDX-License-Identifier: Apache-2.0
#include "sizing/containers.hpp"

#include <map>
#include <set>
#include <string>

namespace kcg {

namespace {

/// All ids. Kata's state keeps ended containers for a while: it adds none where bundles
/// can be seen.
std::set<std::string> known_ids(const SandboxInputs& inputs) {
  std::set<std::string> ids;
  const bool single = inputs.pod_less();
  if (single && inputs.bundle) ids.insert(inputs.bundle->id);
  for (const auto& bundle : inputs.containers) ids.insert(bundle.id);
  if (inputs.registration)
    for (const auto& [id, resources] : inputs.registration->containers) ids.insert(id);
  if (!inputs.bundle && inputs.kata)
    for (const auto& [id, resources] : inputs.kata->containers) ids.insert(id);
  if (!single) ids.erase(inputs.id.str());  // the pause container
  return ids;
}

void fill_resources(const SandboxInputs& inputs, const Bundle* bundle, Container& container) {
  const auto take = [&container](const std::map<std::string, Resources>& known,
                                 ResourceSource source) {
    const auto it = known.find(container.id);
    if (it == known.end()) return false;
    container.resources = it->second;
    container.source = source;
    return true;
  };
  if (inputs.registration && take(inputs.registration->containers, ResourceSource::registration))
    return;
  if (inputs.node && take(inputs.node->containers, ResourceSource::nri)) return;
  if (inputs.kata && take(inputs.kata->containers, ResourceSource::kata_state)) return;
  if (bundle != nullptr) container.resources = bundle->resources;
}

}  // namespace

const Bundle* bundle_of(const SandboxInputs& inputs, const std::string& id) {
  for (const auto& bundle : inputs.containers)
    if (bundle.id == id) return &bundle;
  return inputs.bundle && inputs.bundle->id == id ? &*inputs.bundle : nullptr;
}

std::vector<Container> known_containers(const SandboxInputs& inputs) {
  std::vector<Container> out;
  for (const auto& id : known_ids(inputs)) {
    Container container;
    container.id = id;
    container.stopped = inputs.kata && inputs.kata->stopped.contains(id);
    const auto* bundle = bundle_of(inputs, id);
    if (bundle != nullptr) {
      container.stopped = container.stopped || bundle->ended;
      container.name = bundle->container_name;
      container.cgroups_path = bundle->cgroups_path;
    }
    fill_resources(inputs, bundle, container);
    out.push_back(std::move(container));
  }
  return out;
}

std::vector<Container> counted_containers(const SandboxInputs& inputs) {
  auto all = known_containers(inputs);
  // The one container of a pod-less sandbox is the sandbox.
  if (!inputs.pod_less()) std::erase_if(all, [](const Container& one) { return one.stopped; });
  return all;
}

}  // namespace kcg
