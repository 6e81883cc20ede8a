// SPDX-License-Identifier: Apache-2.0
#include "daemon/node/overheads.hpp"

#include <chrono>
#include <exception>

namespace kcg {

namespace {

/// Sandboxes that end in quick succession are written once; so much is lost with a killed daemon.
constexpr Instant kWritePause = std::chrono::seconds(10);

}  // namespace

Overheads::~Overheads() {
  try {
    if (waits_) write();
  } catch (const std::exception&) {
    // Nobody is left to be told; what is lost is of the last seconds.
  }
}

void Overheads::count(const SandboxHistory& history) {
  survey_.add(history, clock_.wall_seconds());
  if (waits_) return;
  waits_ = true;
  turns_.after(clock_.now() + kWritePause, [this] { write(); });
}

void Overheads::write() {
  waits_ = false;
  const auto kept = store_.keep(survey_);
  if (!kept && !failing_)
    log_.warning("what sandboxes have used is not kept over a restart: " + kept.error().text);
  failing_ = !kept;
}

}  // namespace kcg
