// SPDX-License-Identifier: Apache-2.0
#include "integration/stub_systemd.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "daemon/systemd/messages.hpp"

namespace kcg::integration {

namespace {

constexpr const char* kPath = "/org/freedesktop/systemd1";
constexpr const char* kManager = "org.freedesktop.systemd1.Manager";

void must(int r, const char* what) {
  if (r < 0) throw std::runtime_error(fmt::format("{}: {}", what, r));
}

std::string process_of(int fd) {
  std::ifstream info(fmt::format("/proc/self/fdinfo/{}", fd));
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("Pid:"))
      return "process " + line.substr(line.find_first_not_of("Pid:\t "));
  return "no process";
}

std::string basic_text(sd_bus_message* message, char type) {
  union {
    const char* text;
    std::uint64_t number;
    std::uint32_t small;
    std::uint8_t byte;
    int flag;
  } value{};
  must(sd_bus_message_read_basic(message, type, &value), "read_basic");
  switch (type) {
    case 's':
    case 'o':
      return fmt::format("'{}'", value.text);
    case 'b':
      return value.flag != 0 ? "true" : "false";
    case 'h':
      return process_of(value.flag);
    case 'y':
      return fmt::format("{}", value.byte);
    case 'u':
      return fmt::format("{}", value.small);
    default:
      return fmt::format("{}", value.number);
  }
}

std::string element_text(sd_bus_message* message, char type, const char* contents) {
  if (type != 'a' && type != 'v' && type != 'r' && type != 'e') return basic_text(message, type);
  must(sd_bus_message_enter_container(message, type, contents), "enter");
  auto text = arguments_text(message);
  must(sd_bus_message_exit_container(message), "exit");
  if (type == 'a') return fmt::format("[{}]", text);
  return type == 'v' ? fmt::format("<{} {}>", contents, text) : fmt::format("({})", text);
}

std::string member_of(sd_bus_message* message) {
  const char* member = sd_bus_message_get_member(message);
  return member == nullptr ? "" : member;
}

}  // namespace

std::string arguments_text(sd_bus_message* message) {
  std::string text;
  char type = 0;
  const char* contents = nullptr;
  while (sd_bus_message_peek_type(message, &type, &contents) > 0) {
    if (!text.empty()) text += ' ';
    text += element_text(message, type, contents);
  }
  return text;
}

StubSystemd::StubSystemd(sd_event* event, const std::string& address, std::string version)
    : version_(std::move(version)) {
  sd_bus* bus = nullptr;
  must(sd_bus_new(&bus), "new");
  bus_.reset(bus);
  must(sd_bus_set_address(bus, address.c_str()), "address");
  must(sd_bus_set_bus_client(bus, 1), "client");
  must(sd_bus_start(bus), "start");
  must(sd_bus_add_filter(bus, nullptr, seen, this), "filter");
  must(sd_bus_add_object(bus, nullptr, kPath, called, this), "object");
  must(sd_bus_add_fallback(bus, nullptr, "/org/freedesktop/systemd1/unit", unit_called, this),
       "units");
  must(sd_bus_request_name(bus, "org.freedesktop.systemd1", 0), "name");
  must(sd_bus_attach_event(bus, event, SD_EVENT_PRIORITY_NORMAL), "attach");
}

std::size_t StubSystemd::count(const std::string& member) const {
  return static_cast<std::size_t>(std::count_if(
      calls_.begin(), calls_.end(), [&](const auto& call) { return call.starts_with(member); }));
}

int StubSystemd::seen(sd_bus_message* message, void* self, sd_bus_error*) {
  if (sd_bus_message_is_method_call(message, nullptr, nullptr) <= 0) return 0;
  auto* stub = static_cast<StubSystemd*>(self);
  const auto arguments = arguments_text(message);
  stub->caller_ = sd_bus_message_get_sender(message);
  stub->calls_.push_back(member_of(message) + (arguments.empty() ? "" : " " + arguments));
  must(sd_bus_message_rewind(message, 1), "rewind");
  return 0;
}

int StubSystemd::called(sd_bus_message* message, void* self, sd_bus_error*) {
  auto* stub = static_cast<StubSystemd*>(self);
  const auto member = member_of(message);
  if (member == "Subscribe") return sd_bus_reply_method_return(message, "");
  if (member == "Get") return sd_bus_reply_method_return(message, "v", "s", stub->version_.c_str());
  stub->waiting_.emplace_back(sd_bus_message_ref(message));
  return 1;
}

int StubSystemd::unit_called(sd_bus_message* message, void* self, sd_bus_error*) {
  static_cast<StubSystemd*>(self)->tell_unit(message);
  return 1;
}

/// As systemd does: what nobody made is told of, too.
void StubSystemd::tell_unit(sd_bus_message* call) const {
  const auto it = units_.find(sd_bus_message_get_path(call));
  const auto unit = it == units_.end() ? StubUnit{"x.scope", "inactive", false, "/"} : it->second;
  sd_bus_message* raw = nullptr;
  must(sd_bus_message_new_method_return(call, &raw), "return");
  const systemd::MessagePtr reply(raw);
  must(sd_bus_message_append(raw, "a{sv}", 5, "Id", "s", "x.scope", "Description", "s",
                             unit.description.c_str(), "ActiveState", "s", unit.active.c_str(),
                             "Transient", "b", static_cast<int>(unit.transient), "Job", "(uo)",
                             unit.job == "/" ? 0U : 7U, unit.job.c_str()),
       "append");
  must(sd_bus_send(nullptr, raw, nullptr), "send");
}

systemd::MessagePtr StubSystemd::next() {
  auto message = std::move(waiting_.at(0));
  waiting_.pop_front();
  return message;
}

void StubSystemd::answer() { must(sd_bus_reply_method_return(next().get(), ""), "answer"); }

void StubSystemd::answer_job(const std::string& job) {
  must(sd_bus_reply_method_return(next().get(), "o", job_path(job).c_str()), "answer");
}

void StubSystemd::refuse(const std::string& name, const std::string& text) {
  const auto call = next();
  must(sd_bus_reply_method_errorf(call.get(), name.c_str(), "%s", text.c_str()), "refuse");
}

void StubSystemd::job_removed(const std::string& job, const std::string& unit,
                              const std::string& result) {
  must(sd_bus_emit_signal(bus_.get(), kPath, kManager, "JobRemoved", "uoss", 7U,
                          job_path(job).c_str(), unit.c_str(), result.c_str()),
       "JobRemoved");
}

void StubSystemd::set_unit(const std::string& unit, StubUnit state) {
  units_[systemd::unit_path(unit).value()] = std::move(state);
}

}  // namespace kcg::integration
