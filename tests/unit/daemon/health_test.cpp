// SPDX-License-Identifier: Apache-2.0
//
// Trouble is told when it begins and when it ends, however often a part repeats itself.
#include "daemon/health.hpp"

#include <gtest/gtest.h>

namespace kcg::test {
namespace {

class Healths : public ::testing::Test {
 protected:
  std::vector<std::string> said_;
  int changes_ = 0;
  Health health_{[this](bool begins, const std::string& part, const std::string& text) {
    said_.push_back((begins ? "+" : "-") + part + "|" + text);
  }};
  TellHealth bundles_ = health_.part("bundles");
  TellHealth events_ = health_.part("events");

  void SetUp() override {
    health_.on_change([this] { ++changes_; });
  }
};

using Texts = std::vector<std::string>;

TEST_F(Healths, GoodNewsAloneIsNoNews) {
  bundles_("");
  EXPECT_EQ(said_, Texts{});
  EXPECT_EQ(changes_, 0);
  EXPECT_EQ(health_.problems(), Texts{});
}

TEST_F(Healths, TroubleIsSaidOnceAndItsEndToo) {
  bundles_("no room");
  bundles_("no room");
  EXPECT_EQ(health_.problems(), Texts{"bundles: no room"});
  EXPECT_EQ(changes_, 1);
  bundles_("");
  bundles_("");
  EXPECT_EQ(said_, (Texts{"+bundles|bundles: no room", "-bundles|bundles: works again"}));
  EXPECT_EQ(changes_, 2);
  EXPECT_EQ(health_.problems(), Texts{});
}

TEST_F(Healths, AnotherTextIsTheSameTroubleButShown) {
  bundles_("no room");
  bundles_("no memory");
  EXPECT_EQ(said_, Texts{"+bundles|bundles: no room"});
  EXPECT_EQ(health_.problems(), Texts{"bundles: no memory"});
  EXPECT_EQ(changes_, 2);
}

TEST_F(Healths, EachPartAndLinkTellsHowItIs) {
  auto systemd = PartState::down;
  health_.link("systemd", [&] { return systemd; });
  using Parts = std::map<std::string, PartState>;
  events_("lost");
  EXPECT_EQ(health_.parts(), (Parts{{"bundles", PartState::working},
                                    {"events", PartState::fallback},
                                    {"systemd", PartState::down}}));
  events_("");
  systemd = PartState::off;
  EXPECT_EQ(health_.parts(), (Parts{{"bundles", PartState::working},
                                    {"events", PartState::working},
                                    {"systemd", PartState::off}}));
  EXPECT_EQ(name(PartState::fallback), "fallback");
}

TEST_F(Healths, PartsDoNotHideEachOther) {
  events_("lost");
  bundles_("no room");
  EXPECT_EQ(health_.problems(), (Texts{"bundles: no room", "events: lost"}));
  events_("");
  EXPECT_EQ(health_.problems(), Texts{"bundles: no room"});
}

}  // namespace
}  // namespace kcg::test
