// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "oci/bundle_json.hpp"
#include "oci/parse_json.hpp"
#include "require.hpp"

namespace {

using namespace kcg;

void check(const Bundle& bundle, const BundleOrigin& origin) {
  require(SandboxId::parse(bundle.id).has_value(), "the bundle's id is an id");
  require(SandboxId::parse(bundle.sandbox_id).has_value(), "the sandbox's id is an id");
  require(bundle.total_memory != 0U, "a total of 0 is unknown");
  require(bundle.resources.cpu_period != 0U, "nobody divides by a period of 0");
  require(bundle.cgroups_path.find('\0') == std::string::npos, "no NUL in texts");
  if (bundle.type == BundleType::single)
    require(bundle.engine == Engine::none && bundle.sandbox_id == bundle.id, "its own sandbox");
  if (bundle.type == BundleType::sandbox && origin.root != BundleOrigin::Root::any)
    require(bundle.sandbox_id == origin.id, "a sandbox has its directory's name");
  if (origin.root == BundleOrigin::Root::containerd)
    require(bundle.engine != Engine::crio, "the root selects the engine");
  if (origin.root == BundleOrigin::Root::crio)
    require(bundle.engine != Engine::containerd, "the root selects the engine");
}

/// The library's own reading of the same text tells.
void check_reading(std::string_view text) {
  const auto all = parse_json(text);
  const auto known = nlohmann::json::parse(text, nullptr, false);
  if (all) require(*all == known, "a text is read as the library does");
  const auto some = parse_json(text, {"annotations"});
  require(all.has_value() == some.has_value(), "what is wanted makes no text good or bad");
  if (some && some->is_object() && known.contains("annotations") &&
      known["annotations"].is_object())
    require((*some)["annotations"] == known["annotations"], "what is wanted is there");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using Root = BundleOrigin::Root;
  check_reading(text_of(data, size));
  for (const auto root : {Root::containerd, Root::crio, Root::any}) {
    const BundleOrigin origin{root, "k8s.io", "5e1f", "/run/bundles/5e1f"};
    const auto bundle = parse_bundle(text_of(data, size), origin);
    if (!bundle)
      require_good_text(bundle.error());
    else
      check(*bundle, origin);
  }
  return 0;
}
