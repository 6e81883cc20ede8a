// SPDX-License-Identifier: Apache-2.0
#include "daemon/systemd/messages.hpp"

#include <cstdlib>
#include <limits>
#include <memory>
#include <string_view>

namespace kcg::systemd {

namespace {

constexpr std::uint64_t kInfinity = std::numeric_limits<std::uint64_t>::max();

/// Appends a(sv) and remembers the first failure.
class Writer final {
 public:
  explicit Writer(sd_bus_message* message) : message_(message) { open('a', "(sv)"); }

  void text(const char* name, const char* value) {
    check(sd_bus_message_append(message_, "(sv)", name, "s", value));
  }
  void flag(const char* name, bool value) {
    check(sd_bus_message_append(message_, "(sv)", name, "b", static_cast<int>(value)));
  }
  void number(const char* name, std::uint64_t value) {
    check(sd_bus_message_append(message_, "(sv)", name, "t", value));
  }
  void property(const UnitProperty& property) {
    const auto* bytes = std::get_if<std::vector<std::uint8_t>>(&property.value);
    if (bytes == nullptr) return number(property.name.c_str(), std::get<0>(property.value));
    begin(property.name.c_str(), "ay");
    check(sd_bus_message_append_array(message_, 'y', bytes->data(), bytes->size()));
    end();
  }
  void pidfd(const Fd& fd) {
    check(sd_bus_message_append(message_, "(sv)", "PIDFDs", "ah", 1, fd.get()));
  }
  void pid(Pid pid) {
    check(
        sd_bus_message_append(message_, "(sv)", "PIDs", "au", 1, static_cast<std::uint32_t>(pid)));
  }

  [[nodiscard]] Status finish() {
    close();
    if (result_ < 0) return fail(-result_, "properties: {}", errno_text(-result_));
    return {};
  }

 private:
  void check(int r) {
    if (result_ >= 0 && r < 0) result_ = r;
  }
  void open(char type, const char* contents) {
    check(sd_bus_message_open_container(message_, type, contents));
  }
  void close() { check(sd_bus_message_close_container(message_)); }
  void begin(const char* name, const char* type) {
    open('r', "sv");
    check(sd_bus_message_append_basic(message_, 's', name));
    open('v', type);
  }
  void end() {
    close();
    close();
  }

  sd_bus_message* message_;
  int result_ = 0;
};

Status checked(int r, const char* what) {
  if (r < 0) return fail(-r, "{}: {}", what, errno_text(-r));
  return {};
}

/// One property of GetAll, if it is of interest.
int read_property(sd_bus_message* message, std::string_view name, UnitState& state) {
  const char* text = nullptr;
  std::uint32_t job = 0;
  int flag = 0;
  int r = 0;
  if (name == "Description" || name == "ActiveState") {
    r = sd_bus_message_read(message, "v", "s", &text);
    if (r > 0) (name == "ActiveState" ? state.active : state.description) = text;
  } else if (name == "Transient") {
    r = sd_bus_message_read(message, "v", "b", &flag);
    state.transient = flag != 0;
  } else if (name == "Job") {
    r = sd_bus_message_read(message, "v", "(uo)", &job, &text);
    if (r > 0) state.job = job == 0 ? "/" : text;
  } else {
    r = sd_bus_message_skip(message, "v");
  }
  return r;
}

}  // namespace

Status put_start(sd_bus_message* message, const ScopeRequest& request,
                 const std::vector<UnitProperty>& limits, const Fd& pidfd, bool pidfds) {
  // "fail": a job of somebody else for this unit is not to be replaced.
  if (auto put = checked(sd_bus_message_append(message, "ss", request.unit.c_str(), "fail"),
                         "unit and mode");
      !put)
    return put;
  Writer properties(message);
  properties.text("Description", kDescription);
  properties.text("Slice", request.slice.c_str());
  properties.flag("Delegate", true);
  properties.flag("DefaultDependencies", false);
  // It is gone when its last process is, also when that was killed.
  properties.text("CollectMode", "inactive-or-failed");
  // The pod's own limit is the limit; systemd has one for units that say nothing.
  properties.number("TasksMax", kInfinity);
  pidfds ? properties.pidfd(pidfd) : properties.pid(request.member.pid);
  for (const auto& limit : limits) properties.property(limit);
  if (auto put = properties.finish(); !put) return put;
  return checked(sd_bus_message_append(message, "a(sa(sv))", 0), "auxiliary units");
}

Status put_limits(sd_bus_message* message, const std::string& unit,
                  const std::vector<UnitProperty>& limits) {
  const int runtime = 1;
  if (auto put = checked(sd_bus_message_append(message, "sb", unit.c_str(), runtime), "unit"); !put)
    return put;
  Writer properties(message);
  for (const auto& limit : limits) properties.property(limit);
  return properties.finish();
}

Result<UnitState> read_unit(sd_bus_message* message) {
  UnitState state;
  int r = sd_bus_message_enter_container(message, 'a', "{sv}");
  while (r >= 0 && (r = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
    const char* name = nullptr;
    r = sd_bus_message_read_basic(message, 's', &name);
    if (r >= 0) r = read_property(message, name, state);
    if (r >= 0) r = sd_bus_message_exit_container(message);
  }
  if (r < 0) return fail(-r, "properties of a unit: {}", errno_text(-r));
  return state;
}

Result<std::string> unit_path(const std::string& unit) {
  char* raw = nullptr;
  const int r = sd_bus_path_encode("/org/freedesktop/systemd1/unit", unit.c_str(), &raw);
  const std::unique_ptr<char, decltype(&std::free)> path(raw, &std::free);
  if (r < 0) return fail(-r, "unit '{}': {}", unit, errno_text(-r));
  return std::string(path.get());
}

}  // namespace kcg::systemd
