// SPDX-License-Identifier: Apache-2.0
#include "nri/plugin.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "nri.pb.h"
#include "support/nri_engine.hpp"

namespace kcg::nri {
namespace {

/// What a plugin has answered.
std::vector<Frame> answers_in(const std::string& out) {
  MuxReader mux;
  FrameReader frames;
  EXPECT_TRUE(mux.take(out, [&](std::uint32_t connection, std::string_view piece) {
    if (connection == kPluginConnection) frames.add(piece);
  }));
  std::vector<Frame> found;
  while (true) {
    const auto frame = frames.next();
    if (!frame || !*frame) return found;
    found.push_back(**frame);
  }
}

std::vector<News> all_news(Plugin& plugin) {
  std::vector<News> all;
  while (true) {
    auto news = plugin.news();
    EXPECT_TRUE(news);
    if (!news || !*news) return all;
    all.push_back(**news);
  }
}

/// A whole life: what comes in.
std::string a_life(std::size_t mux) {
  const SaidPod pod{"p1", "web", "/kubepods/pod1", {}, {{"app", "x"}}, 160 << 20};
  return to_wire(kRuntimeConnection, {1, Frame::kResponse, ""}) +
         wire_call(1, "Configure", configure_call(), kPluginService, mux) +
         wire_call(3, "Synchronize", synchronize_call({pod}, {}, true), kPluginService, mux) +
         wire_call(5, "Synchronize", synchronize_call({}, {{"p1", {"c", 1, 2}}}), kPluginService,
                   mux) +
         wire_call(7, "StateChange", state_change(3, pod), kPluginService, mux) +
         wire_call(9, "NotYetInvented", "", kPluginService, mux) +
         wire_call(11, "Configure", "", "another.Service", mux);
}

TEST(NriPlugin, AnswersTheSameHoweverTheBytesAreCut) {
  for (const std::size_t mux : {SIZE_MAX, std::size_t{1}, std::size_t{7}}) {
    const auto bytes = a_life(mux);
    Plugin whole;
    std::string wanted;
    ASSERT_TRUE(whole.take(bytes, wanted));
    const auto told = all_news(whole);
    ASSERT_EQ(told.size(), 4U);
    EXPECT_EQ(told[0].runtime, "fake 1");
    EXPECT_EQ(told[1].whole, News::Whole::part);
    EXPECT_EQ(told[2].whole, News::Whole::last);
    EXPECT_EQ(told[3].pods_gone, std::vector<std::string>{"p1"});
    for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
      Plugin plugin;
      std::string out;
      ASSERT_TRUE(plugin.take(std::string_view(bytes).substr(0, cut), out));
      ASSERT_TRUE(plugin.take(std::string_view(bytes).substr(cut), out));
      ASSERT_EQ(out, wanted) << cut;
      ASSERT_EQ(all_news(plugin), told) << cut;
    }
  }
}

TEST(NriPlugin, SaysYesToAllThatItKnowsAndTwelveToTheRest) {
  Plugin plugin;
  std::string out;
  ASSERT_TRUE(plugin.take(a_life(SIZE_MAX), out));
  const auto frames = answers_in(out);
  ASSERT_EQ(frames.size(), 6U);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    EXPECT_EQ(frames[i].stream, 2 * i + 1);
    EXPECT_EQ(answer_of(frames[i]).code, i < 4 ? 0 : 12) << i;
  }
  EXPECT_EQ(answer_of(frames[0]).payload, configure_payload());
  wire::SynchronizeResponse part, last;
  ASSERT_TRUE(part.ParseFromString(answer_of(frames[1]).payload));
  ASSERT_TRUE(last.ParseFromString(answer_of(frames[2]).payload));
  EXPECT_TRUE(part.more()) << "the runtime ends the connection otherwise";
  EXPECT_FALSE(last.more());
}

TEST(NriPlugin, AnswersBeforeAnythingIsRead) {
  Plugin plugin;
  std::string out;
  ASSERT_TRUE(plugin.take(wire_call(1, "RunPodSandbox", "\xff\xff"), out));
  EXPECT_EQ(answers_in(out).size(), 1U);
  EXPECT_FALSE(plugin.news()) << "what was said is nonsense";
}

TEST(NriPlugin, TakesFiveMegabytesAtOnce) {
  std::vector<SaidPod> pods;
  for (int i = 0; i < 5000; ++i)
    pods.push_back({std::to_string(i), "web", "", {{"note", std::string(1000, 'x')}}});
  const auto payload = synchronize_call(pods, {});
  ASSERT_GT(payload.size(), std::size_t{5} << 20);
  Plugin plugin;
  std::string out;
  const auto bytes = wire_call(1, "Synchronize", payload);
  for (std::size_t at = 0; at < bytes.size(); at += 65'536)
    ASSERT_TRUE(plugin.take(std::string_view(bytes).substr(at, 65'536), out));
  EXPECT_EQ(answers_in(out).size(), 1U);
  const auto news = all_news(plugin);
  ASSERT_EQ(news.size(), 1U);
  EXPECT_EQ(news[0].pods.size(), pods.size());
}

TEST(NriPlugin, EndsWhereNothingCanBeReadAnyMore) {
  const struct {
    const char* name;
    std::string bytes;
  } rows[] = {
      {"no call", to_wire(kPluginConnection, {1, Frame::kRequest, "\xff\xff"})},
      {"a refusal", to_wire(kRuntimeConnection, {1, Frame::kResponse, refusal_body(13, "no")})},
      {"a long frame", std::string("\0\0\0\1\xff\xff\xff\xff", 8)},
  };
  for (const auto& row : rows) {
    Plugin plugin;
    std::string out;
    EXPECT_FALSE(plugin.take(row.bytes, out)) << row.name;
  }
}

TEST(NriPlugin, DoesNotHoardCalls) {
  Plugin plugin;
  std::string out;
  const auto call = wire_call(1, "Shutdown", "");
  for (std::size_t i = 0; i < Plugin::kMostCalls; ++i) ASSERT_TRUE(plugin.take(call, out));
  EXPECT_FALSE(plugin.take(call, out));
}

TEST(NriPlugin, RegistersInTwoFrames) {
  const auto hello = Plugin::hello();
  EXPECT_EQ(hello.substr(0, 8), std::string("\0\0\0\2\0\0\0\12", 8));
  EXPECT_NE(hello.find("RegisterPlugin"), std::string::npos);
  EXPECT_NE(hello.find("kata-cgroupd"), std::string::npos);
}

}  // namespace
}  // namespace kcg::nri
