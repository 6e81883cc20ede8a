// SPDX-License-Identifier: Apache-2.0
#include "identify/recognise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "oci/cgroups_path.hpp"

namespace kcg {

namespace {

std::string described(const Bundle& bundle) {
  return fmt::format("bundle {}", escaped(bundle.directory, 256));
}

std::string place(const Bundle& bundle) {
  return fmt::format("{}{}{}", name(bundle.engine), bundle.ns.empty() ? "" : " namespace ",
                     escaped(bundle.ns));
}

bool same_place(const Bundle& a, const Bundle& b) { return a.engine == b.engine && a.ns == b.ns; }

/// Of several bundles that are the sandbox itself, the one that counts.
const Bundle* choose_sandbox(const std::vector<const Bundle*>& own,
                             const std::optional<std::string>& preferred_ns) {
  const Bundle* best = nullptr;
  const auto rank = [&preferred_ns](const Bundle& b) {
    return preferred_ns && b.ns == *preferred_ns ? 0 : 1;
  };
  for (const auto* one : own) {
    if (best == nullptr || rank(*one) < rank(*best) ||
        (rank(*one) == rank(*best) && one->directory < best->directory))
      best = one;
  }
  return best;
}

/// Empty when the container belongs to the sandbox, else the rule that it breaks. `pod`: the
/// sandbox's path.
std::string container_problem(const Bundle& container, const Bundle& sandbox,
                              const Result<CgroupsPath>& pod) {
  if (!same_place(container, sandbox))
    return fmt::format("it comes from {}, the sandbox from {}", place(container), place(sandbox));
  if (!container.unreadable.empty()) return "";  // where it lies is not known
  const auto own = parse_cgroups_path(container.cgroups_path);
  if (!own)
    return fmt::format("its cgroupsPath '{}' cannot be used: {}",
                       escaped(container.cgroups_path, 256), own.error().text);
  if (!pod)
    return fmt::format("the sandbox's cgroupsPath '{}' cannot be used: {}",
                       escaped(sandbox.cgroups_path, 256), pod.error().text);
  if (own->pod != pod->pod)
    return fmt::format("its pod cgroup is {}, the sandbox's is {}", own->pod.str(), pod->pod.str());
  return "";
}

/// True for a container of a sandbox bundle that lost against another one of the same id.
bool belongs_to_other(const Bundle& container, const std::vector<const Bundle*>& own,
                      const Bundle& chosen) {
  return std::any_of(own.begin(), own.end(), [&](const Bundle* other) {
    return other != &chosen && same_place(container, *other);
  });
}

/// What is malformed in a bundle is said of the sandbox that it belongs to.
void complain(const Bundle& bundle, Assembled& out) {
  out.conditions.insert(out.conditions.end(), bundle.complaints.begin(), bundle.complaints.end());
  if (!bundle.unreadable.empty())
    out.conditions.push_back(
        {ConditionName::bundle_unreadable,
         fmt::format("{}; container {} counts as unlimited unless Kata's state or a registration "
                     "tells its limits",
                     bundle.unreadable, escaped(bundle.id))});
}

}  // namespace

Assembled assemble(const SandboxId& id, const std::vector<Bundle>& claiming,
                   const std::optional<std::string>& preferred_ns) {
  Assembled out;
  out.inputs.id = id;
  std::vector<const Bundle*> own;
  for (const auto& bundle : claiming)
    if (bundle.type != BundleType::container && bundle.id == id.str()) own.push_back(&bundle);
  const auto* sandbox = choose_sandbox(own, preferred_ns);
  if (sandbox != nullptr) {
    out.inputs.bundle = *sandbox;
    complain(*sandbox, out);
  }
  for (const auto* other : own)
    if (other != sandbox)
      out.ignored.push_back({*other, fmt::format("{}: the id is also in use in {}, which counts",
                                                 described(*other), place(*sandbox))});

  std::optional<Result<CgroupsPath>> pod;  // most sandboxes are asked for before a container comes
  for (const auto& bundle : claiming) {
    if (bundle.type != BundleType::container || bundle.sandbox_id != id.str()) continue;
    if (sandbox == nullptr) {
      out.ignored.push_back(
          {bundle, fmt::format("{}: the bundle of its sandbox does not exist", described(bundle))});
      continue;
    }
    if (!pod) pod = parse_cgroups_path(sandbox->cgroups_path);
    const auto problem = container_problem(bundle, *sandbox, *pod);
    if (problem.empty()) {
      complain(bundle, out);
      out.inputs.containers.push_back(bundle);
      continue;
    }
    const auto text = fmt::format("{} claims this sandbox but does not belong to it: {}",
                                  described(bundle), problem);
    out.ignored.push_back({bundle, text});
    if (!belongs_to_other(bundle, own, *sandbox))
      out.conditions.push_back({ConditionName::foreign_container, text});
  }
  std::sort(out.inputs.containers.begin(), out.inputs.containers.end(),
            [](const Bundle& a, const Bundle& b) { return a.id < b.id; });
  return out;
}

bool proves_kata(const SandboxInputs& inputs) {
  if (inputs.registration) return true;
  if (inputs.bundle && names_kata_shim(inputs.bundle->shim_binary)) return true;
  // State of an ended Kata sandbox may outlive it, and an id may be used again by another runtime.
  if (inputs.bundle && names_other_shim(inputs.bundle->shim_binary)) return false;
  return inputs.kata.has_value();
}

bool names_kata_shim(std::string_view executable) {
  constexpr std::string_view kKataShim = "containerd-shim-kata";
  const auto program = executable.substr(executable.rfind('/') + 1);
  return program.substr(0, kKataShim.size()) == kKataShim;
}

bool names_other_shim(std::string_view executable) {
  constexpr std::string_view kAnyShim = "containerd-shim-";
  const auto program = executable.substr(executable.rfind('/') + 1);
  return program.substr(0, kAnyShim.size()) == kAnyShim && !names_kata_shim(executable);
}

}  // namespace kcg
