// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/watch.hpp"

#include <gtest/gtest.h>

namespace kcg::cgctl {
namespace {

constexpr std::int64_t kNow = 1'700'000'000;  // 2023-11-14T22:13:20Z

Event state_change() {
  Event event;
  event.kind = Event::Kind::state;
  event.id = "0123456789abcdef";
  event.before = "placed";
  event.after = "degraded";
  return event;
}

Event condition(bool active) {
  Event event;
  event.kind = Event::Kind::condition;
  event.id = "0123456789abcdef";
  event.condition = "OomKilled";
  event.severity = "error";
  event.text = "killed \x1b[2J";
  event.active = active;
  return event;
}

TEST(EventLine, ForPeople) {
  Event gone;
  gone.kind = Event::Kind::daemon;
  Event added;
  added.id = "0123456789abcdef";
  const struct {
    Event event;
    const char* title;
    const char* line;
  } rows[] = {
      {added, "shop/cart", "22:13:20  shop/cart  found\n"},
      {state_change(), "", "22:13:20  0123456789ab  placed -> degraded\n"},
      {condition(true), "a/b", "22:13:20  a/b  OomKilled (error): killed \\x1b[2J\n"},
      {condition(false), "a/b", "22:13:20  a/b  no more: OomKilled\n"},
      {gone, "", "22:13:20  -  kata-cgroupd has gone\n"},
  };
  for (const auto& row : rows) EXPECT_EQ(event_line({}, {}, row.event, row.title, kNow), row.line);
}

TEST(EventLine, AsOneJsonObjectOnALine) {
  Options options;
  options.json = true;
  EXPECT_EQ(event_line(options, {}, state_change(), "shop/cart", kNow),
            "{\"version\":1,\"time\":\"2023-11-14T22:13:20Z\",\"event\":\"state\","
            "\"sandbox\":\"0123456789abcdef\",\"pod\":\"shop/cart\","
            "\"old_state\":\"placed\",\"new_state\":\"degraded\"}\n");
}

}  // namespace
}  // namespace kcg::cgctl
