// SPDX-License-Identifier: Apache-2.0
//
// config.json of an OCI bundle -> Bundle (L2). Strict: wrong types, fractions, negative counts and
// overflows are errors that name the key and the value; unknown keys are ignored. As in Go, which
// writes these files, null is absent and of equal keys the last one counts.
#pragma once

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
  std::string id;         ///< name of the bundle directory
  std::string directory;  ///< absolute path
};

/// Parses and validates. A bundle whose engine's type key says `sandbox` but whose sandbox id is
/// not its own directory's name is an error; with Root::any such a bundle takes its id from the
/// annotation instead.
[[nodiscard]] Result<Bundle> parse_bundle(std::string_view json, const BundleOrigin& origin);

/// Kata's state -> KataState. `go`: persist.json of the Go shim; else runtime-rs's state.json.
[[nodiscard]] Result<KataState> parse_kata_state(std::string_view json, bool go);
/// The Go shim's file of one container: its "State", "" if it does not say.
[[nodiscard]] Result<std::string> parse_container_state(std::string_view json);

}  // namespace kcg
