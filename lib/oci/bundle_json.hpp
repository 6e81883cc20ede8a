// SPDX-License-Identifier: Apache-2.0
//
// config.json of an OCI bundle -> Bundle (L2). Strict: wrong types, fractions, negative counts and
// overflows name the key and the value. Where they leave open what the bundle is, it is an error;
// elsewhere the part counts as not given, and the bundle carries the complaint. Keys that are not
// read are ignored, whatever they hold. As in Go, which writes these files, null is absent and of
// equal keys the last one counts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/bundle.hpp"

namespace kcg {

/// Value: where the bundle was found; this, not the file, selects the engine.
struct BundleOrigin {
  enum class Root : std::uint8_t { containerd, crio, any };
  Root root = Root::any;  ///< any: `plan --bundle`, the engine is read from the annotation keys
  std::string ns;         ///< containerd namespace
  std::string id;         ///< name of the bundle directory, or (CRI-O) of the one above it
  std::string directory;  ///< absolute path
};

/// Parses and validates. A bundle whose engine's type key says `sandbox` but whose sandbox id is
/// not its own directory's name is an error; with Root::any such a bundle takes its id from the
/// annotation instead.
[[nodiscard]] Result<Bundle> parse_bundle(std::string_view json, const BundleOrigin& origin);

/// The sandbox that a container's bundle names although it cannot be read as a whole (cut off,
/// nested absurdly, of wrong types): as far as its annotations can be. nullopt: no container.
[[nodiscard]] std::optional<std::string> claimed_sandbox(std::string_view json,
                                                         BundleOrigin::Root root);

/// Kata's state -> KataState. `go`: persist.json of the Go shim; else runtime-rs's state.json.
[[nodiscard]] Result<KataState> parse_kata_state(std::string_view json, bool go);
/// The Go shim's file of one container: its "State", "" if it does not say.
[[nodiscard]] Result<std::string> parse_container_state(std::string_view json);

}  // namespace kcg
