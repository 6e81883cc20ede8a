// SPDX-License-Identifier: Apache-2.0
//
// Whose container is a bundle that cannot be read? Its annotations are looked at as they come, up
// to the place where the text stops being JSON.
#include <nlohmann/json.hpp>

#include "oci/bundle_json.hpp"
#include "oci/json_view.hpp"
#include "oci/parse_json.hpp"

namespace kcg {

std::optional<std::string> claimed_sandbox(std::string_view text, BundleOrigin::Root root) {
  const auto begun = beginning_of_json(text, {"annotations"});
  JsonProblem problem;  // nobody's: what cannot be read says nothing
  const auto annotations = JsonView(begun, problem).object("annotations");
  const auto named = [&](const char* type, const char* id) -> std::optional<std::string> {
    return annotations.text(type) == "container" ? annotations.text(id) : std::nullopt;
  };
  if (root == BundleOrigin::Root::crio)
    return named("io.kubernetes.cri-o.ContainerType", "io.kubernetes.cri-o.SandboxID");
  return named("io.kubernetes.cri.container-type", "io.kubernetes.cri.sandbox-id");
}

}  // namespace kcg
