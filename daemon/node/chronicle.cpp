// SPDX-License-Identifier: Apache-2.0
#include "daemon/node/chronicle.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace kcg {

namespace {

/// What happens in quick succession is written once.
constexpr Instant kPause = std::chrono::seconds(5);
constexpr Instant kChronicleSlice = std::chrono::milliseconds(5);

}  // namespace

Chronicle::Chronicle(StateStore& store, const Clock& clock, Log& log, Turns& turns,
                     Overheads& overheads)
    : store_(store), clock_(clock), log_(log), turns_(turns), overheads_(overheads) {
  log_.name_pods([this](const std::string& id) -> Log::Fields {
    const auto known = histories_.who(id);
    if (!known || known->pod_name.empty()) return {};
    return {{"POD_NAMESPACE", known->pod_namespace}, {"POD_NAME", known->pod_name}};
  });
}

Chronicle::~Chronicle() {
  log_.name_pods({});
  try {
    unwritten_.merge(histories_.take_changed());
    for (const auto& id : unwritten_) (void)write_one(id);
  } catch (const std::exception&) {
    // Nobody is left to be told; what is lost is of the last seconds.
  }
}

void Chronicle::restore() {
  for (auto& history : store_.histories()) histories_.restore(std::move(history));
}

void Chronicle::seen(const SandboxView& view) {
  if (view.state == SandboxState::removing) return ended(view.id);
  histories_.seen(view);
  write_later(clock_.now() + kPause);
}

void Chronicle::note(const std::string& id, std::vector<SandboxEvent> events) {
  if (events.empty()) return;
  for (auto& event : events)
    if (histories_.note(id, std::move(event))) tell_last(id);
  write_later(clock_.now() + kPause);
}

void Chronicle::overhead(const std::string& id, std::uint64_t vmm_start, std::uint64_t peak,
                         const std::function<std::optional<std::uint64_t>()>& ram) {
  if (!histories_.overhead(id, vmm_start, peak)) return;
  histories_.guest_ram(id, ram().value_or(0));
  write_later(clock_.now() + kPause);
}

void Chronicle::ended(const std::string& id) {
  end(id, "");
  write_later(clock_.now() + kPause);
}

void Chronicle::end(const std::string& id, const std::string& how) {
  if (!histories_.ended(id, clock_.wall_seconds(), how)) return;
  if (const auto history = histories_.who(id)) overheads_.count(*history);
  tell_last(id);
}

void Chronicle::all_seen(const std::vector<SandboxId>& living) {
  std::set<std::string> ids;
  for (const auto& id : living) ids.insert(id.str());
  std::vector<std::string> over;
  for (const auto& [id, history] : histories_.living())
    if (!ids.contains(id)) over.push_back(id);
  for (const auto& id : over) end(id, "while no daemon looked; found now");
  write_later(clock_.now() + kPause);
}

void Chronicle::tell_last(const std::string& id) {
  auto history = publisher_ == nullptr ? std::nullopt : histories_.find(id);
  if (!history) return;
  history->events.erase(history->events.begin(), history->events.end() - 1);
  publisher_->happened(*history);
}

void Chronicle::write_later(Instant when) {
  unwritten_.merge(histories_.take_changed());
  if (waits_ || unwritten_.empty()) return;
  waits_ = true;
  turns_.after(when, [this] { write(); });
}

void Chronicle::write() {
  waits_ = false;
  const auto until = clock_.now() + kChronicleSlice;
  while (!unwritten_.empty()) {
    const auto id = std::move(unwritten_.extract(unwritten_.begin()).value());
    if (!write_one(id)) unwritten_.clear();  // they are written when they change again
    if (clock_.now() >= until) break;
  }
  write_later(clock_.now());
}

bool Chronicle::write_one(const std::string& id) {
  const auto history = histories_.find(id);
  const auto done = !history ? store_.drop_history(id) : store_.keep(*history);
  if (!done)
    log_.limited(LogLevel::warning, id, "history",
                 "what happened to it is not kept over a restart: " + done.error().text);
  return done.has_value();
}

}  // namespace kcg
