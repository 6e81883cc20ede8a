// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for systemd's manager on a bus, in the loop of the test: it keeps what it was asked
// for, and answers when the test says so. It shares its thread with whoever asks: one that waited
// for an answer would wait for ever.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "daemon/systemd/sd_bus.hpp"

namespace kcg::integration {

/// Value: a unit as the stand-in tells of it; nobody told it of others.
struct StubUnit {
  std::string description, active;
  bool transient = true;
  std::string job = "/";
};

/// Resource: see the head of the file.
class StubSystemd final {
 public:
  StubSystemd(sd_event* event, const std::string& address, std::string version);
  StubSystemd(const StubSystemd&) = delete;
  StubSystemd& operator=(const StubSystemd&) = delete;
  ~StubSystemd() = default;

  /// All calls so far, as text: "StartTransientUnit 'x.scope' 'fail' [...]".
  [[nodiscard]] const std::vector<std::string>& calls() const { return calls_; }
  /// Unique name of who called last.
  [[nodiscard]] const std::string& caller() const { return caller_; }
  [[nodiscard]] std::size_t count(const std::string& member) const;
  /// Calls that wait for one of the answers below.
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

  /// To the oldest waiting call.
  void answer();
  void answer_job(const std::string& job);
  void refuse(const std::string& name, const std::string& text);

  void job_removed(const std::string& job, const std::string& unit, const std::string& result);
  void set_unit(const std::string& unit, StubUnit state);

  [[nodiscard]] static std::string job_path(const std::string& job) {
    return "/org/freedesktop/systemd1/job/" + job;
  }

 private:
  static int seen(sd_bus_message* message, void* self, sd_bus_error*);
  static int called(sd_bus_message* message, void* self, sd_bus_error*);
  static int unit_called(sd_bus_message* message, void* self, sd_bus_error*);
  void tell_unit(sd_bus_message* call) const;
  [[nodiscard]] systemd::MessagePtr next();

  systemd::BusPtr bus_;
  std::string version_;
  std::vector<std::string> calls_;
  std::string caller_;
  std::deque<systemd::MessagePtr> waiting_;
  std::map<std::string, StubUnit> units_;  ///< by object path
};

/// The arguments of a message as text; descriptors as the process that they stand for.
[[nodiscard]] std::string arguments_text(sd_bus_message* message);

}  // namespace kcg::integration
