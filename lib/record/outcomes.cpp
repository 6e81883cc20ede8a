// SPDX-License-Identifier: Apache-2.0
#include "record/outcomes.hpp"

#include <algorithm>

#include "model/errnos.hpp"

namespace kcg {

bool may_be_its_end(const StepResult& result) {
  if (result.outcome != Outcome::failed || result.stranger) return false;
  for (const int code : {errnos::kNotThere, errnos::kNoTask, errnos::kBusy, errnos::kNoDevice,
                         errnos::kInvalid, errnos::kUnsupported})
    if (result.code == code) return true;
  return false;
}

bool overtaken(const StepResult& result) {
  const bool vanished = result.code == errnos::kNotThere || result.code == errnos::kNoTask ||
                        result.code == errnos::kNoDevice;
  const bool ends = move_of(result.step) != nullptr || is<op::Remove>(result.step);
  return result.outcome == Outcome::failed && ends && vanished;
}

bool still_busy(const StepResult& result) {
  return result.outcome == Outcome::failed && is<op::Remove>(result.step) &&
         result.code == errnos::kBusy;
}

bool creation_open(const Report& report) {
  return std::any_of(report.results.begin(), report.results.end(), [](const StepResult& result) {
    const bool unmarked = is<op::Mark>(result.step) && result.outcome != Outcome::done;
    const bool scope = is<op::StartScope>(result.step) && result.outcome == Outcome::pending;
    return unmarked || scope;
  });
}

}  // namespace kcg
