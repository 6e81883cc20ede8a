// SPDX-License-Identifier: Apache-2.0
//
// SandboxView <-> the properties of the Sandbox interface (L9). One table serves ListSandboxes, the
// property getters, the change signals, and cgctl, which reads views back. docs/dbus.md lists it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "daemon/bus/compat.hpp"
#include "daemon/manager.hpp"
#include "model/usage.hpp"
#include "model/view.hpp"

namespace kcg::bus {

/// One property by its name; throws sdbus::Error if there is none of this name.
[[nodiscard]] sdbus::Variant property(const SandboxView& view, std::string_view name);
/// What ListSandboxes tells of a sandbox.
[[nodiscard]] Properties overview(const SandboxView& view);
/// As overview(), with the reason why the bundle is left alone.
[[nodiscard]] Properties ignored_overview(const SandboxView& view);
/// Names of the properties that have another value in `after`.
[[nodiscard]] std::vector<std::string> changed_properties(const SandboxView& before,
                                                          const SandboxView& after);
/// What GetStats tells of one sandbox beside its usage.
[[nodiscard]] Properties stats(const SandboxView& view);
/// What was measured of it; what is not known has no key.
[[nodiscard]] Properties usage_properties(const SandboxUsage& usage);
/// The numbers of them; throws sdbus::Error where one is of another type.
[[nodiscard]] SandboxUsage numbers_from(const Properties& properties);

/// What ListRegistrations tells of one, and back; the id is told beside it.
[[nodiscard]] Properties registered_properties(const RegisteredView& view);
[[nodiscard]] Result<RegisteredView> registered_from(const Properties& properties);

/// A view from properties; unknown ones are passed over, missing ones stay at their default, one of
/// another type is an error.
[[nodiscard]] Result<SandboxView> view_from(const Properties& properties);

/// All names in the table, for the proof that it equals the XML.
[[nodiscard]] std::vector<std::string> property_names();

}  // namespace kcg::bus
