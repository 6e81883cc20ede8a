// SPDX-License-Identifier: Apache-2.0
//
// What each verb does, without any I/O of its own: it asks a source and returns text.
#pragma once

#include <string>

#include "base/result.hpp"
#include "tools/cgctl/options.hpp"
#include "tools/cgctl/source.hpp"
#include "tools/cgctl/table.hpp"

namespace kcg::cgctl {

/// Value: what goes to stdout, and the status.
struct Answer {
  std::string out;
  Exit exit = Exit::good;
};

[[nodiscard]] bool changes_something(Verb verb);

/// list, show, tree, threads, events. `daemon`: what of it a list says; "" = nothing.
[[nodiscard]] Result<Answer> look(const Options& options, const Style& style, Source& source,
                                  const std::string& daemon = "");
/// plan, explain.
[[nodiscard]] Result<Answer> reason(const Options& options, const Style& style, Source& source);
/// plan --bundle.
[[nodiscard]] Result<Answer> foresee(const Options& options, const Style& style);

/// top. Returns when somebody leaves it.
[[nodiscard]] Result<Answer> watch_usage(const Options& options, const Style& style,
                                         Source& source);
/// doctor.
[[nodiscard]] Result<Answer> doctor_answer(const Options& options, const Style& style);

/// check-config.
[[nodiscard]] Result<Answer> check_config(const Options& options);

/// uninstall-check: exit status 4 if a sandbox lives in groups of ours.
[[nodiscard]] Result<Answer> uninstall_check(const Options& options, const Style& style);
/// release. An error of code ClientError::enforcing: a daemon would place again what was released.
[[nodiscard]] Result<Answer> release(const Options& options, const Style& style);

class BusSource;
/// reconcile, register, unregister, reload.
[[nodiscard]] Result<Answer> change(const Options& options, BusSource& daemon);

}  // namespace kcg::cgctl
