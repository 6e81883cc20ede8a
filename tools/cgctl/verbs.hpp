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

/// list, show, tree, threads.
[[nodiscard]] Result<Answer> look(const Options& options, const Style& style, Source& source);
/// plan, explain.
[[nodiscard]] Result<Answer> reason(const Options& options, const Style& style, Source& source);
/// plan --bundle.
[[nodiscard]] Result<Answer> foresee(const Options& options, const Style& style);

class BusSource;
/// reconcile, register, unregister.
[[nodiscard]] Result<Answer> change(const Options& options, BusSource& daemon);

}  // namespace kcg::cgctl
