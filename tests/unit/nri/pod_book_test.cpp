// SPDX-License-Identifier: Apache-2.0
#include "nri/pod_book.hpp"

#include <gtest/gtest.h>

namespace kcg::nri {
namespace {

SandboxId id(const char* text) { return SandboxId::parse(text).value(); }

PodNews pod(const char* name, const std::string& handler = "kata") {
  PodNews news;
  news.id = name;
  news.data.handler = handler;
  return news;
}

Resources limits(std::int64_t memory, std::int64_t quota = 0) {
  Resources resources;
  resources.memory_limit = memory;
  resources.cpu_quota = quota;
  return resources;
}

News listing(News::Whole whole, std::vector<PodNews> pods) {
  News news;
  news.whole = whole;
  news.pods = std::move(pods);
  return news;
}

News about(ContainerNews container) {
  News news;
  news.containers.push_back(std::move(container));
  return news;
}

class Book : public ::testing::Test {
 protected:
  void SetUp() override { (void)book_.take(listing(News::Whole::last, {pod("p")})); }
  [[nodiscard]] const Resources& of(const char* container) const {
    return book_.find(id("p"))->containers.at(container);
  }
  PodBook book_;
};

TEST_F(Book, ForgetsWhatIsNoLongerListed) {
  const auto touched = book_.take(listing(News::Whole::last, {pod("q")}));
  EXPECT_EQ(touched, (std::set<SandboxId>{id("p"), id("q")}));
  EXPECT_EQ(book_.find(id("p")), nullptr);
  EXPECT_NE(book_.find(id("q")), nullptr);
  EXPECT_TRUE(book_.take(listing(News::Whole::last, {pod("q")})).empty()) << "nothing is new";
}

TEST_F(Book, ListsInPartsCountWhenTheyAreComplete) {
  EXPECT_TRUE(book_.take(listing(News::Whole::part, {pod("q")})).empty());
  EXPECT_NE(book_.find(id("p")), nullptr);
  EXPECT_EQ(book_.find(id("q")), nullptr);
  EXPECT_EQ(book_.take(listing(News::Whole::last, {pod("r")})),
            (std::set<SandboxId>{id("p"), id("q"), id("r")}));
  EXPECT_NE(book_.find(id("q")), nullptr);
}

TEST_F(Book, PartsOfALostConnectionAreNoPartsOfTheNext) {
  (void)book_.take(listing(News::Whole::part, {pod("q")}));
  News begins;
  begins.runtime = "containerd 2";
  (void)book_.take(begins);
  (void)book_.take(listing(News::Whole::last, {pod("p")}));
  EXPECT_EQ(book_.find(id("q")), nullptr);
}

TEST_F(Book, AnUpdateRaisesWhatItNamesAtOnceAndLowersNothingUntilItIsDone) {
  EXPECT_EQ(book_.take(about({"p", "c", limits(512, 50'000)})), std::set<SandboxId>{id("p")});
  (void)book_.take(about({"p", "c", limits(0, 75'000), true}));
  EXPECT_EQ(of("c"), limits(512, 75'000));
  (void)book_.take(about({"p", "c", limits(256, 25'000), true}));
  EXPECT_EQ(of("c"), limits(512, 75'000)) << "the engine may refuse it";
  (void)book_.take(about({"p", "c", limits(256, 25'000)}));
  EXPECT_EQ(of("c"), limits(256, 25'000)) << "it is done";
  (void)book_.take(about({"p", "c", limits(-1, -1), true}));
  EXPECT_EQ(of("c"), limits(-1, -1));
  (void)book_.take(about({"p", "c", limits(512, 50'000), true}));
  EXPECT_EQ(of("c"), limits(-1, -1)) << "a limit where there was none lowers, too";
  (void)book_.take(about({"p", "other", limits(0, 1), true}));
  EXPECT_FALSE(book_.find(id("p"))->containers.contains("other")) << "half known is not known";
}

TEST_F(Book, CpuTimeIsComparedByItsPeriod) {
  auto known = limits(0, 50'000);
  known.cpu_period = 50'000;
  (void)book_.take(about({"p", "c", known}));
  auto said = limits(0, 75'000);
  said.cpu_period = 100'000;
  (void)book_.take(about({"p", "c", said, true}));
  EXPECT_EQ(of("c"), known) << "three quarters of a CPU are less than one";
  said.cpu_quota = 150'000;
  (void)book_.take(about({"p", "c", said, true}));
  EXPECT_EQ(of("c").cpu_quota, 150'000);
  EXPECT_EQ(of("c").cpu_period, 100'000U);
}

TEST_F(Book, SharesAndCpusGrowWithAnUpdate) {
  Resources known;
  known.cpu_shares = 512;
  known.cpus = "0-1";
  (void)book_.take(about({"p", "c", known}));
  Resources said;
  said.cpu_shares = 256;
  said.cpus = "2";
  (void)book_.take(about({"p", "c", said, true}));
  EXPECT_EQ(of("c").cpu_shares, 512U);
  EXPECT_EQ(of("c").cpus, "0-1,2");
  said.cpu_shares = 1024;
  said.cpus = "";
  (void)book_.take(about({"p", "c", said, true}));
  EXPECT_EQ(of("c").cpu_shares, 1024U);
  EXPECT_EQ(of("c").cpus, "0-1,2");
}

TEST_F(Book, WhatIsToldInPassingOverwritesNothing) {
  auto stale = pod("p", "");
  stale.in_passing = true;
  auto fresh = pod("new");
  fresh.in_passing = true;
  EXPECT_EQ(book_.take(listing(News::Whole::no, {stale, fresh})), std::set<SandboxId>{id("new")});
  EXPECT_EQ(book_.find(id("p"))->handler, "kata");
}

TEST_F(Book, PodsAndContainersGo) {
  (void)book_.take(about({"p", "c", limits(1)}));
  News gone;
  gone.containers_gone.push_back({"p", "c", {}});
  (void)book_.take(gone);
  EXPECT_TRUE(book_.find(id("p"))->containers.empty());
  News all;
  all.pods_gone = {"p", "never", "not an id/"};
  EXPECT_EQ(book_.take(all), std::set<SandboxId>{id("p")});
  EXPECT_EQ(book_.find(id("p")), nullptr);
}

TEST_F(Book, IsBounded) {
  std::vector<PodNews> pods;
  for (std::size_t i = 0; i <= PodBook::kMostPods; ++i)
    pods.push_back(pod(std::to_string(i).c_str()));
  pods.push_back(pod("no/id"));
  EXPECT_EQ(book_.take(listing(News::Whole::last, pods)).size(), PodBook::kMostPods + 1)
      << "with the one that is gone";
  for (std::size_t i = 0; i <= PodBook::kMostContainers; ++i)
    (void)book_.take(about({"0", std::to_string(i), limits(1)}));
  EXPECT_EQ(book_.find(id("0"))->containers.size(), PodBook::kMostContainers);
}

}  // namespace
}  // namespace kcg::nri
