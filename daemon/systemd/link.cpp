// SPDX-License-Identifier: Apache-2.0
#include "daemon/systemd/link.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>

#include "base/text.hpp"

namespace kcg::systemd {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Instant kFirstRetry = milliseconds(100);
constexpr Instant kLastRetry = seconds(10);

tl::unexpected<Error> fail_call(int result, const std::string& what) {
  return fail(-result, "{}: {}", what, errno_text(-result));
}

std::string read_text(sd_bus_message* message) {
  const char* text = nullptr;
  const int r = sd_bus_message_read_basic(message, 's', &text);
  return r > 0 && text != nullptr ? text : "";
}

std::string sender_of(sd_bus_message* message) {
  const char* sender = sd_bus_message_get_sender(message);
  return sender == nullptr ? "" : sender;
}

/// Leading digits: "257.13-1~deb13u1", "v258~rc1".
unsigned version_of(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  const auto digits = text.substr(0, text.find_first_not_of("0123456789"));
  return static_cast<unsigned>(std::min<std::uint64_t>(parse_u64(digits).value_or(0), 1'000'000));
}

}  // namespace

bool BusError::unanswered() const {
  if (late) return false;
  return name == SD_BUS_ERROR_NO_REPLY || name == SD_BUS_ERROR_DISCONNECTED ||
         name == SD_BUS_ERROR_SERVICE_UNKNOWN || name == SD_BUS_ERROR_NAME_HAS_NO_OWNER;
}

/// Resource: who waits for an answer; it lives as long as its slot.
struct Link::Waiting {
  Link* link;
  Instant until;  ///< the library says the same for too late and for never
  OnAnswer act;

  [[nodiscard]] BusError told(const sd_bus_error& error) const {
    return {error.name, error.message == nullptr ? "" : error.message,
            SystemClock().now() >= until};
  }

  static int answered(sd_bus_message* message, void* self, sd_bus_error*) {
    auto* waiting = static_cast<Waiting*>(self);
    waiting->link->guarded([&] {
      if (const auto* error = sd_bus_message_get_error(message))
        waiting->act(tl::unexpected(waiting->told(*error)));
      else
        waiting->act(message);
    });
    return 0;
  }
  static void drop(void* self) { delete static_cast<Waiting*>(self); }
};

Link::Link(Loop& loop, std::string address, std::chrono::microseconds patience, Events events)
    : loop_(loop),
      address_(std::move(address)),
      patience_(patience),
      events_(std::move(events)),
      delay_(kFirstRetry) {
  if (const auto opened = open(); !opened) lose(opened.error().text);
}

Link::~Link() = default;

/// The library must not see an exception. As everywhere in the loop, one ends the daemon: a fresh
/// start reads the world again.
template <class Act>
void Link::guarded(Act&& act) {
  try {
    std::forward<Act>(act)();
  } catch (const std::exception& error) {
    events_.log(true, fmt::format("systemd's answer: {}", error.what()));
    loop_.exit(1);
  }
}

template <void (Link::*Handle)(sd_bus_message*)>
int Link::on_message(sd_bus_message* message, void* self, sd_bus_error*) {
  auto* link = static_cast<Link*>(self);
  link->guarded([&] { (link->*Handle)(message); });
  return 0;
}

int Link::connect() {
  sd_bus* bus = nullptr;
  if (address_ == "system") {
    const int r = sd_bus_open_system(&bus);
    bus_.reset(bus);
    return r;
  }
  if (const int r = sd_bus_new(&bus); r < 0) return r;
  bus_.reset(bus);
  if (const int r = sd_bus_set_address(bus, address_.c_str()); r < 0) return r;
  if (const int r = sd_bus_set_bus_client(bus, 1); r < 0) return r;
  return sd_bus_start(bus);
}

int Link::watch() {
  const auto keep = [this](int r, sd_bus_slot* slot) {
    if (r >= 0) matches_.emplace_back(slot);
    return r;
  };
  sd_bus_slot* slot = nullptr;
  if (const int r = keep(
          sd_bus_match_signal_async(bus_.get(), &slot, "org.freedesktop.DBus.Local",
                                    "/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local",
                                    "Disconnected", on_message<&Link::disconnected>, nullptr, this),
          slot);
      r < 0)
    return r;
  if (const int r = keep(
          sd_bus_match_signal_async(bus_.get(), &slot, kService, kManagerPath, kManager,
                                    "JobRemoved", on_message<&Link::job_removed>, nullptr, this),
          slot);
      r < 0)
    return r;
  return keep(sd_bus_add_match_async(
                  bus_.get(), &slot,
                  "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
                  "interface='org.freedesktop.DBus',member='NameOwnerChanged',"
                  "arg0='org.freedesktop.systemd1'",
                  on_message<&Link::owner_changed>, nullptr, this),
              slot);
}

Status Link::attach() {
  const std::string what = fmt::format("bus '{}'", address_);
  if (const int r = connect(); r < 0) return fail_call(r, what);
  // The loop's end is no time to wait for what is still to be sent.
  if (const int r = sd_bus_set_close_on_exit(bus_.get(), 0); r < 0) return fail_call(r, what);
  if (const int r = sd_bus_attach_event(bus_.get(), loop_.get(), SD_EVENT_PRIORITY_NORMAL); r < 0)
    return fail_call(r, what);
  if (const int r = watch(); r < 0) return fail_call(r, what);
  return {};
}

Status Link::open() {
  dead_ = false;
  if (auto attached = attach(); !attached) return attached;
  greet();
  return {};
}

/// Asked in one go; the answers come in this order.
void Link::greet() {
  greeting_.clear();
  state_ = State::greeting;
  const auto ask = [this](const char* interface, const char* member, auto fill,
                          void (Link::*then)(const Answer&)) -> Status {
    auto message = new_call(kManagerPath, interface, member);
    if (!message) return forward(message.error());
    if (const int r = fill(message->get()); r < 0) return fail_call(r, member);
    auto slot = call(*message, [this, then](const Answer& answer) { (this->*then)(answer); });
    if (!slot) return forward(slot.error());
    greeting_.push_back(std::move(*slot));
    return {};
  };
  auto asked = ask(kManager, "Subscribe", [](sd_bus_message*) { return 0; }, &Link::greeted);
  if (asked)
    asked = ask(
        "org.freedesktop.DBus.Properties", "Get",
        [](sd_bus_message* message) {
          return sd_bus_message_append(message, "ss", kManager, "Version");
        },
        &Link::know_version);
  if (!asked) lose(asked.error().text);
}

void Link::greeted(const Answer& answer) {
  if (!up() || answer || answer.error().name == "org.freedesktop.systemd1.AlreadySubscribed")
    return;
  if (answer.error().unanswered()) return absent(answer.error().str());
  lose(answer.error().str());
}

void Link::know_version(const Answer& answer) {
  if (!up()) return;
  if (!answer)
    return answer.error().unanswered() ? absent(answer.error().str()) : lose(answer.error().str());
  const bool text = sd_bus_message_enter_container(*answer, 'v', "s") > 0;
  manager_ = sender_of(*answer);
  version_ = version_of(text ? read_text(*answer) : "");
  state_ = State::ready;
  delay_ = kFirstRetry;
  if (std::exchange(told_, false))
    events_.log(false, fmt::format("systemd {} answers on the bus '{}'", version_, address_));
  events_.ready();
}

void Link::job_removed(sd_bus_message* message) {
  std::uint32_t id = 0;
  const char* job = nullptr;
  const char* unit = nullptr;
  const char* result = nullptr;
  if (sender_of(message) != manager_) return;
  if (sd_bus_message_read(message, "uoss", &id, &job, &unit, &result) < 0) return;
  events_.job_ended({job, unit, result});
}

void Link::owner_changed(sd_bus_message* message) {
  const char* name = nullptr;
  const char* before = nullptr;
  const char* after = nullptr;
  if (dead_ || sender_of(message) != "org.freedesktop.DBus") return;
  if (sd_bus_message_read(message, "sss", &name, &before, &after) < 0) return;
  if (*before != '\0') absent("systemd has left the bus");
  if (*after != '\0') greet();
}

void Link::disconnected(sd_bus_message*) { lose("the bus closed the connection"); }

/// The bus is there, the manager is not: its return is announced.
void Link::absent(const std::string& reason) {
  reason_ = reason;
  const bool was_ready = std::exchange(state_, State::absent) == State::ready;
  if (!std::exchange(told_, true))
    events_.log(
        was_ready && dead_,
        fmt::format("systemd's manager is not reached on the bus '{}': {}", address_, reason));
  if (was_ready) events_.left();
}

void Link::lose(const std::string& reason) {
  if (std::exchange(dead_, true)) return;
  absent(reason);
  retry_later();
}

void Link::retry_later() {
  auto source = loop_.at(SystemClock().now() + delay_, [this] { retry(); });
  if (!source) return events_.log(true, fmt::format("no more systemd: {}", source.error().text));
  timer_ = std::move(*source);
  delay_ = std::min<Instant>(delay_ * 2, kLastRetry);
}

void Link::retry() {
  matches_.clear();  // they hold the connection
  greeting_.clear();
  bus_.reset();
  if (const auto opened = open(); !opened) lose(opened.error().text);
}

Result<MessagePtr> Link::new_call(const std::string& path, const char* interface,
                                  const char* member) {
  if (!up()) return fail(ENOTCONN, "{}", reason_);
  sd_bus_message* raw = nullptr;
  int r =
      sd_bus_message_new_method_call(bus_.get(), &raw, kService, path.c_str(), interface, member);
  MessagePtr message(raw);
  // On a bus without systemd nothing is to be started in its place.
  if (r >= 0) r = sd_bus_message_set_auto_start(raw, 0);
  if (r < 0) return fail_call(r, member);
  return message;
}

Result<SlotPtr> Link::call(const MessagePtr& message, OnAnswer act) {
  if (!up()) return fail(ENOTCONN, "{}", reason_);
  auto waiting =
      std::make_unique<Waiting>(Waiting{this, SystemClock().now() + patience_, std::move(act)});
  sd_bus_slot* raw = nullptr;
  const int r = sd_bus_call_async(bus_.get(), &raw, message.get(), Waiting::answered, waiting.get(),
                                  static_cast<std::uint64_t>(patience_.count()));
  if (r < 0) return fail_call(r, sd_bus_message_get_member(message.get()));
  SlotPtr slot(raw);
  (void)sd_bus_slot_set_destroy_callback(raw, Waiting::drop);  // ignored: the slot is good
  (void)waiting.release();                                     // the slot's now
  return slot;
}

}  // namespace kcg::systemd
