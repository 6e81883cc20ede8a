// SPDX-License-Identifier: Apache-2.0
#include "nri/messages.hpp"

#include <gtest/gtest.h>

#include "nri.pb.h"
#include "support/nri_engine.hpp"

namespace kcg::nri {
namespace {

constexpr const char* kOverheadKey = "io.katacontainers.config.hypervisor.memory_overhead";

News news_of(const std::string& method, const std::string& payload) {
  const auto news = read_news({std::string(kPluginService), method, payload});
  EXPECT_TRUE(news);
  return news.value_or(News{});
}

TEST(NriMessages, APodIsReadWhole) {
  const SaidPod said{"p1",
                     "web",
                     "/kubepods/pod1",
                     {{kOverheadKey, "350"}, {"other", "x"}},
                     {{"app", "web"}},
                     160 << 20,
                     25'000,
                     256};
  const auto news = news_of("StateChange", state_change(1, said));
  ASSERT_EQ(news.pods.size(), 1U);
  NodeData wanted;
  wanted.pod = {"tests", "web", "u1"};
  wanted.handler = "kata";
  wanted.cgroup_parent = "/kubepods/pod1";
  wanted.labels = {{"app", "web"}};
  wanted.overhead_annotation = "350";
  wanted.overhead = {160U << 20, 250U};
  wanted.cpu_request_milli = 250U;
  EXPECT_EQ(news.pods[0], (PodNews{"p1", wanted, false}));
  EXPECT_EQ(news_of("RunPodSandbox", event_call(said)), news) << "as a call of its own, too";
}

TEST(NriMessages, AbsentAndZeroBothMeanNoOverhead) {
  wire::EventRequest absent;
  absent.mutable_pod()->set_id("p");
  for (const auto& payload : {absent.SerializeAsString(), event_call({"p"})}) {
    const auto news = news_of("RunPodSandbox", payload);
    ASSERT_EQ(news.pods.size(), 1U);
    EXPECT_EQ(news.pods[0].data.overhead, PodAmounts{});
    EXPECT_EQ(news.pods[0].data.cpu_request_milli, std::nullopt);
  }
}

TEST(NriMessages, SharesAreTheOverheadsCpuWhereNoQuotaIs) {
  wire::EventRequest request;
  request.mutable_pod()->set_id("p");
  auto* cpu = request.mutable_pod()->mutable_linux()->mutable_pod_overhead()->mutable_cpu();
  cpu->mutable_shares()->set_value(102);
  EXPECT_EQ(news_of("RunPodSandbox", request.SerializeAsString()).pods[0].data.overhead.cpu_milli,
            100U);
  cpu->mutable_shares()->set_value(UINT64_MAX);
  EXPECT_EQ(news_of("RunPodSandbox", request.SerializeAsString()).pods[0].data.overhead.cpu_milli,
            std::nullopt);
}

TEST(NriMessages, EventsTellWhatTheyAreAbout) {
  const SaidPod pod{"p"};
  const SaidContainer container{"c", 512 << 20, 50'000};
  const struct {
    const char* name;
    News news;
    std::size_t pods, containers, pods_gone, containers_gone;
  } rows[] = {
      {"create", news_of("CreateContainer", event_call(pod, container)), 1, 1, 0, 0},
      {"post-create", news_of("StateChange", state_change(5, pod, container)), 1, 1, 0, 0},
      {"update", news_of("UpdateContainer", update_call(pod, container)), 1, 1, 0, 0},
      {"post-update", news_of("StateChange", state_change(9, pod, container)), 1, 1, 0, 0},
      {"stop container", news_of("StopContainer", event_call(pod, container)), 1, 0, 0, 0},
      {"remove container", news_of("StateChange", state_change(11, pod, container)), 1, 0, 0, 1},
      {"stop pod", news_of("StateChange", state_change(2, pod)), 0, 0, 0, 0},
      {"remove pod", news_of("StateChange", state_change(3, pod)), 0, 0, 1, 0},
      {"unknown event", news_of("StateChange", state_change(99, pod)), 0, 0, 0, 0},
      {"shutdown", news_of("Shutdown", ""), 0, 0, 0, 0},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(row.news.pods.size(), row.pods) << row.name;
    EXPECT_EQ(row.news.containers.size(), row.containers) << row.name;
    EXPECT_EQ(row.news.pods_gone.size(), row.pods_gone) << row.name;
    EXPECT_EQ(row.news.containers_gone.size(), row.containers_gone) << row.name;
  }
  EXPECT_TRUE(rows[2].news.containers[0].partial);
  EXPECT_FALSE(rows[3].news.containers[0].partial);
}

TEST(NriMessages, WhatIsNoUtf8HidesNothingElse) {
  const auto news =
      news_of("RunPodSandbox", event_call({"p", "\xff\xfe", "", {}, {{"\xff", "\x80"}}}));
  ASSERT_EQ(news.pods.size(), 1U);
  EXPECT_EQ(news.pods[0].data.pod.name, "\xff\xfe");
}

TEST(NriMessages, LabelsAreBounded) {
  SaidPod pod{"p"};
  for (int i = 0; i < 1000; ++i) pod.labels.emplace_back(std::to_string(i), std::string(60, 'x'));
  pod.annotations = {{kOverheadKey, std::string(kMostText + 1, '1')}};
  const auto data = news_of("RunPodSandbox", event_call(pod)).pods[0].data;
  EXPECT_GT(data.labels.size(), 200U);
  EXPECT_LT(data.labels.size(), 300U);
  EXPECT_EQ(data.overhead_annotation, std::nullopt);
}

TEST(NriMessages, OnlyEventsThatEveryVersionKnowsAreWanted) {
  wire::ConfigureResponse response;
  ASSERT_TRUE(response.ParseFromString(configure_payload()));
  EXPECT_NE(response.events(), 0) << "0 would be all of them";
  EXPECT_EQ(response.events() & ~((1 << 11) - 1), 0);
  EXPECT_EQ(response.events(), 1 | 4 | 16 | 128 | 256 | 1024);
}

TEST(NriMessages, NonsenseIsAnError) {
  const std::string nonsense = "\xff\xff\xff";
  for (const char* method :
       {"Synchronize", "Configure", "StateChange", "UpdateContainer", "RunPodSandbox"})
    EXPECT_FALSE(read_news({"", method, nonsense})) << method;
  EXPECT_FALSE(read_call(nonsense));
  EXPECT_FALSE(read_answer(nonsense));
  EXPECT_FALSE(known_method(""));
  EXPECT_FALSE(known_method("ValidateContainerAdjustment"));
}

TEST(NriMessages, ARefusalIsTold) {
  const auto said = read_answer(refusal_body(3, "invalid plugin\nname"));
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().text, "the runtime refuses: invalid plugin\\x0aname (code 3)");
  EXPECT_TRUE(read_answer(""));
}

}  // namespace
}  // namespace kcg::nri
