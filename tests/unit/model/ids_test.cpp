// SPDX-License-Identifier: Apache-2.0
#include "model/ids.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

namespace kcg {
namespace {

CgroupPath path(const char* text) { return CgroupPath::parse(text).value(); }

TEST(SandboxId, Accepts) {
  for (const std::string& good :
       {std::string("a"), std::string("0"), std::string("A.b_c-9"), std::string(128, 'f')}) {
    const auto id = SandboxId::parse(good);
    ASSERT_TRUE(id) << id.error().text;
    EXPECT_EQ(id->str(), good);
  }
}

TEST(SandboxId, Refuses) {
  for (const std::string& bad :
       {std::string(), std::string("."), std::string(".."), std::string("-a"), std::string("_a"),
        std::string(".a"), std::string("a/b"), std::string("a b"), std::string("a\n"),
        std::string("a\0b", 3), std::string("\xc3\xa9"), std::string(129, 'f')}) {
    const auto id = SandboxId::parse(bad);
    ASSERT_FALSE(id) << bad;
    EXPECT_EQ(id.error().text.find("sandbox id '"), 0U);
    EXPECT_EQ(id.error().text.find('\n'), std::string::npos) << "must stay one line of a log";
  }
}

TEST(SandboxId, NoneIsEqualToNoParsedOne) {
  EXPECT_NE(SandboxId(), SandboxId::parse("a").value());
  std::unordered_set<SandboxId> ids = {SandboxId::parse("a").value(),
                                       SandboxId::parse("a").value()};
  EXPECT_EQ(ids.size(), 1U);
}

TEST(SandboxId, EqualOnesShareTheirText) {
  const auto id = SandboxId::parse("shared").value();
  EXPECT_EQ(&SandboxId::parse("shared")->str(), &id.str());
  std::vector<SandboxId> others;  // the table is cleaned among them
  for (int i = 0; i < 1000; ++i) others.push_back(*SandboxId::parse(std::to_string(i)));
  for (int i = 0; i < 1000; ++i) (void)SandboxId::parse("passes" + std::to_string(i));
  EXPECT_EQ(&SandboxId::parse("shared")->str(), &id.str());
  for (int i = 0; i < 1000; ++i) {
    const auto index = static_cast<std::size_t>(i);
    EXPECT_EQ(others[index].str(), std::to_string(i));
    EXPECT_EQ(&SandboxId::parse(std::to_string(i))->str(), &others[index].str());
  }
  std::thread([&] { EXPECT_EQ(SandboxId::parse("shared").value(), id); }).join();
}

TEST(CgroupPath, Accepts) {
  const std::string longest = "/" + std::string(255, 'a');
  for (const std::string& good :
       {std::string("/"), std::string("/a"), std::string("/a/b.slice/c:d"), std::string("/..."),
        std::string("/cpux.max"), std::string("/.cpu"), std::string("/tasks2"),
        std::string("/with blank"), longest}) {
    const auto parsed = CgroupPath::parse(good);
    ASSERT_TRUE(parsed) << parsed.error().text;
    EXPECT_EQ(parsed->str(), good);
  }
  EXPECT_EQ(CgroupPath(), path("/"));
}

TEST(CgroupPath, RefusesAndNamesTheRule) {
  std::string deep;
  for (int i = 0; i < 2048; ++i) deep += "/a";
  const struct {
    std::string text;
    const char* rule;
  } rows[] = {
      {"", "must start with '/'"},
      {"a", "must start with '/'"},
      {"//", "is empty"},
      {"/a/", "is empty"},
      {"/a//b", "is empty"},
      {"/.", "is '.' or '..'"},
      {"/a/../b", "is '.' or '..'"},
      {std::string("/a\0b", 4), "contains NUL"},
      {"/a\nb", "contains a newline"},
      {"/" + std::string(256, 'a'), "longer than 255 bytes"},
      {deep, "longer than 4095 bytes"},
      {"/tasks", "the name of a kernel file"},
      {"/a/notify_on_release", "the name of a kernel file"},
      {"/release_agent/a", "the name of a kernel file"},
      {"/cgroup.procs", "named like a kernel file"},
      {"/memory.max", "named like a kernel file"},
      {"/hugetlb.2MB.max", "named like a kernel file"},
      {"/freezer.state", "named like a kernel file"},
      {"/irq.pressure", "named like a kernel file"},
      {"/cpu.slice", "named like a kernel file"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.rule);
    const auto parsed = CgroupPath::parse(row.text);
    ASSERT_FALSE(parsed) << row.text;
    EXPECT_NE(parsed.error().text.find(row.rule), std::string::npos) << parsed.error().text;
    EXPECT_EQ(parsed.error().text.find('\n'), std::string::npos);
  }
}

TEST(CgroupPath, Child) {
  EXPECT_EQ(path("/").child("a")->str(), "/a");
  EXPECT_EQ(path("/a").child("b")->str(), "/a/b");
  for (const char* bad : {"", ".", "..", "a/b", "tasks", "cpu.max", "a\nb"})
    EXPECT_FALSE(path("/a").child(bad)) << bad;
}

TEST(CgroupPath, ChildIsBoundedAsAWhole) {
  CgroupPath deep;
  Result<CgroupPath> next = deep;
  while ((next = deep.child(std::string(255, 'a')))) deep = *next;
  EXPECT_LE(deep.str().size(), 4095U);
  EXPECT_EQ(CgroupPath::parse(deep.str()), deep);
  EXPECT_NE(next.error().text.find("longer than 4095"), std::string::npos);
}

TEST(CgroupPath, ParentAndName) {
  const struct {
    const char *text, *parent, *name, *relative;
  } rows[] = {{"/", "/", "", "."}, {"/a", "/", "a", "a"}, {"/a/b", "/a", "b", "a/b"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(path(row.text).parent(), path(row.parent));
    EXPECT_EQ(path(row.text).name(), row.name);
    EXPECT_EQ(path(row.text).relative(), row.relative);
    EXPECT_EQ(path(row.text).is_root(), std::string_view(row.text) == "/");
  }
}

/// A path is asked for those above it some hundred times in a sandbox's life.
TEST(CgroupPath, ThoseAboveItShareItsText) {
  const auto whole = path("/a/b/c");
  EXPECT_EQ(whole.parent().str().data(), whole.str().data());
  EXPECT_EQ(whole.parent(), path("/a/b"));
  EXPECT_EQ(whole.parent().child("c").value(), whole);
  EXPECT_LT(whole.parent(), whole);
  EXPECT_EQ(whole.parent().relative(), "a/b");
}

TEST(CgroupPath, Within) {
  const struct {
    const char *inner, *above;
    bool within;
  } rows[] = {
      {"/", "/", true},        {"/a", "/", true},        {"/", "/a", false},
      {"/a", "/a", true},      {"/a/b", "/a", true},     {"/ab", "/a", false},
      {"/a", "/a/b", false},   {"/a/b/c", "/a/b", true}, {"/b/a", "/a", false},
      {"/a-b/c", "/a", false},
  };
  for (const auto& row : rows)
    EXPECT_EQ(path(row.inner).within(path(row.above)), row.within) << row.inner << ' ' << row.above;
}

TEST(CgroupPath, AreOrderedByTheirText) {
  const char* rows[] = {"/", "/A", "/a", "/a-b", "/a/b", "/a/b/c", "/aa", "/b", "/\xc3\xa9"};
  for (std::size_t i = 0; i < std::size(rows); ++i)
    for (std::size_t j = 0; j < std::size(rows); ++j)
      EXPECT_EQ(path(rows[i]) <=> path(rows[j]), i <=> j) << rows[i] << ' ' << rows[j];
  const auto one = path("/a/b");
  const auto same = one;
  EXPECT_EQ(one <=> same, std::strong_ordering::equal);
  EXPECT_LT(SandboxId(), SandboxId::parse("0").value()) << "none before all";
}

TEST(TaskKey, ReusedPidIsAnother) {
  EXPECT_NE((TaskKey{7, 100}), (TaskKey{7, 101}));
  EXPECT_LT((TaskKey{7, 100}), (TaskKey{8, 1}));
}

TEST(HierarchyName, EqualOnesShareTheirText) {
  const HierarchyName one("cpu,cpuacct");
  const HierarchyName other(std::string("cpu,cpuacct"));
  EXPECT_EQ(one, other);
  EXPECT_EQ(&one.str(), &other.str());
  EXPECT_NE(one, HierarchyName("cpu"));
  EXPECT_LT(HierarchyName("v2"), HierarchyName("v3"));
  EXPECT_LT(HierarchyName("a"), HierarchyName("b")) << "by text";
  EXPECT_LT(HierarchyName("A"), HierarchyName("a")) << "in whatever order they were made";
  EXPECT_EQ(HierarchyName(), HierarchyName(""));
  EXPECT_EQ(HierarchyName().str(), "");
}

TEST(HierarchyName, AnyThreadMayMakeIt) {
  std::array<const std::string*, 4> texts{};
  std::array<std::thread, 4> threads;
  for (std::size_t i = 0; i < threads.size(); ++i)
    threads.at(i) =
        std::thread([&texts, i] { texts.at(i) = &HierarchyName("made at once").str(); });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(std::set(texts.begin(), texts.end()).size(), 1U);
}

}  // namespace
}  // namespace kcg
