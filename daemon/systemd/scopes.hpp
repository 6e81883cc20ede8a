// SPDX-License-Identifier: Apache-2.0
//
// SystemdManager on D-Bus (L9): scopes of ours, and the limits on them. What was asked for is
// answered from the loop with a HintKind::job; whether it came true is seen in the kernel by the
// pass that follows.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cgroup/systemd_manager.hpp"
#include "daemon/loop.hpp"
#include "daemon/systemd/link.hpp"
#include "daemon/systemd/messages.hpp"
#include "proc/view.hpp"

namespace kcg {

/// How the connection to systemd tells the daemon's log; `problem` is false for good news.
using SystemdLog = std::function<void(bool problem, const std::string& text)>;

/// Resource: see the head of the file. Everything happens in `loop`; nothing in here waits.
class SystemdScopes final : public SystemdManager {
 public:
  /// `loop` and `proc` must outlive it. After `patience` an answer is not waited for any more.
  SystemdScopes(Loop& loop, ProcView& proc, const std::string& address, SystemdLog log,
                std::chrono::microseconds patience = systemd::kPatience);
  SystemdScopes(const SystemdScopes&) = delete;
  SystemdScopes& operator=(const SystemdScopes&) = delete;
  ~SystemdScopes() override;

  /// Who is told of ends, and that ends may have been missed (HintKind::rescan).
  void set_hint_sink(HintSink sink) { sink_ = std::move(sink); }

  /// It answers, and tells of the end of its jobs.
  [[nodiscard]] bool reached() const { return link_.ready(); }

  [[nodiscard]] Status start_scope(const ScopeRequest& request) override;
  [[nodiscard]] Status set_limits(const std::string& unit,
                                  const std::vector<WantedFile>& limits) override;

 private:
  /// Value: how far a new scope has come.
  enum class Phase : std::uint8_t {
    queued,   ///< systemd has not been reached yet
    asked,    ///< StartTransientUnit is not answered
    working,  ///< its job is known and has not ended
    unknown,  ///< systemd went away: it is asked what became of it when it is back
  };
  /// Resource: one scope that was asked for.
  struct Start {
    ScopeRequest request;
    Phase phase = Phase::queued;
    std::string job;
    std::map<std::string, std::string> ended;  ///< jobs of the unit that ended before the answer
    unsigned requests = 0;
    systemd::SlotPtr call;
  };
  /// Resource: limits under way.
  struct Limits {
    unsigned open = 0;
    std::string problem;
    std::vector<systemd::SlotPtr> calls;
  };
  using Answer = systemd::Answer;
  using Then = void (SystemdScopes::*)(const std::string& unit, const Answer& answer);

  [[nodiscard]] Status send(Start& start);
  [[nodiscard]] Result<systemd::SlotPtr> ask(const systemd::MessagePtr& message,
                                             const std::string& unit, Then then);
  [[nodiscard]] Status inquire(Start& start);
  [[nodiscard]] Status reset(Start& start);
  void started(const std::string& unit, const Answer& answer);
  void seen(const std::string& unit, const Answer& answer);
  void was_reset(const std::string& unit, const Answer& answer);
  void judge(const std::string& unit, Start& start, const systemd::UnitState& state);
  void once_more(const std::string& unit, Start& start, const std::string& problem);
  void job_ended(const systemd::JobEnd& end);
  void finish(const std::string& unit, const std::string& result);
  void or_end(const std::string& unit, const Status& status);
  void end(const std::string& unit, const std::string& problem);

  void limits_answered(const std::string& unit, const Answer& answer);
  void limits_written(const std::string& unit, const Answer& answer);

  void ready();
  void left();
  static void forget_job(Start& start);
  void tell(const std::string& unit, const std::string& problem);

  ProcView& proc_;
  HintSink sink_;
  bool known_ = false;  ///< it was ready before
  std::map<std::string, Start> starts_;
  std::map<std::string, Limits> limits_;
  systemd::Link link_;  // last: its slots go first
};

}  // namespace kcg
