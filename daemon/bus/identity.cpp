// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/identity.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace kcg::bus {

namespace {

Result<uid_t> uid_in(sd_bus_message* message) {
  if (const auto* const error = sd_bus_message_get_error(message))
    return fail(sd_bus_message_get_errno(message), "the bus does not say who calls: {}: {}",
                error->name, error->message == nullptr ? "" : error->message);
  std::uint32_t uid = 0;
  if (const int r = sd_bus_message_read(message, "u", &uid); r < 0)
    return fail(-r, "the bus does not say who calls: {}", errno_text(-r));
  return uid;
}

}  // namespace

Identity::~Identity() {
  for (const auto& question : open_) sd_bus_slot_unref(question.slot);
}

Status Identity::ask(const std::string& caller, Known known) {
  auto& question = open_.emplace_back(Question{this, nullptr, std::move(known)});
  const int r = sd_bus_call_method_async(
      bus_, &question.slot, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
      "GetConnectionUnixUser", on_answer, &question, "s", caller.c_str());
  if (r >= 0) return {};
  open_.pop_back();
  return fail(-r, "the bus cannot be asked who calls: {}", errno_text(-r));
}

int Identity::on_answer(sd_bus_message* message, void* question, sd_bus_error*) {
  auto* const asked = static_cast<Question*>(question);
  auto& open = asked->owner->open_;
  const auto it = std::find_if(open.begin(), open.end(),
                               [asked](const Question& one) { return &one == asked; });
  const auto known = std::move(it->known);
  sd_bus_slot_unref(it->slot);
  open.erase(it);
  known(uid_in(message));
  return 1;
}

}  // namespace kcg::bus
