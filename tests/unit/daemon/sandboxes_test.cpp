// SPDX-License-Identifier: Apache-2.0
#include "daemon/node/sandboxes.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

#include "daemon/manager.hpp"

namespace kcg {
namespace {

SandboxId id_of(const std::string& text) { return SandboxId::parse(text).value(); }

class Known : public ::testing::Test {
 protected:
  void publish(std::initializer_list<const char*> ids) {
    for (const char* id : ids) sandboxes_.get(id_of(id)).published = true;
  }
  /// Its processes are proven to be these.
  std::vector<Pid> prove(const char* id, std::initializer_list<Pid> pids) {
    auto& entry = sandboxes_.get(id_of(id));
    entry.record.trusted = {};
    for (const Pid pid : pids) {
      Trusted trusted;
      trusted.key = {pid, 1};
      entry.record.trusted.insert(trusted);
    }
    return sandboxes_.index(id_of(id), entry);
  }
  std::string resolved(const std::string& text) const {
    const auto id = sandboxes_.resolve(text);
    if (id) return id->str();
    return id.error().code == static_cast<int>(ManagerError::ambiguous_id) ? "ambiguous" : "none";
  }

  Sandboxes sandboxes_;
};

TEST_F(Known, APrefixThatOnlyOneHasIsAnId) {
  publish({"abcd1", "abce1", "abc"});
  EXPECT_EQ(resolved("abcd1"), "abcd1");
  EXPECT_EQ(resolved("abcd"), "abcd1");
  EXPECT_EQ(resolved("abc"), "abc") << "a whole id may be short, and others' prefix";
  EXPECT_EQ(resolved("ab"), "none") << "too short";
  EXPECT_EQ(resolved("abcf"), "none");
  EXPECT_EQ(resolved(""), "none");
  publish({"abcd2"});
  EXPECT_EQ(resolved("abcd"), "ambiguous");
}

TEST_F(Known, WhatWasNotPublishedHasNoName) {
  (void)sandboxes_.get(id_of("abcd1"));
  EXPECT_EQ(resolved("abcd1"), "none");
  EXPECT_EQ(resolved("abcd"), "none");
  EXPECT_TRUE(sandboxes_.published().empty());
}

TEST_F(Known, AProcessIsTheSandboxsThatProvedItLast) {
  EXPECT_EQ(prove("a", {10, 11}), std::vector<Pid>{});
  EXPECT_EQ(prove("a", {11, 12}), std::vector<Pid>{10});
  EXPECT_EQ(sandboxes_.owner(10), std::nullopt);
  EXPECT_EQ(sandboxes_.owner(11), id_of("a"));
  EXPECT_EQ(prove("b", {11}), std::vector<Pid>{}) << "the pid was reused";
  EXPECT_EQ(prove("a", {12}), std::vector<Pid>{11});
  EXPECT_EQ(sandboxes_.owner(11), id_of("b")) << "what a has lost is no loss of b";
}

TEST_F(Known, AnIdThatReturnsHasNothingOfItsFormerLife) {
  (void)prove("a", {10, 11});
  sandboxes_.await_unit("a.scope", id_of("a"));
  EXPECT_EQ(sandboxes_.drop(id_of("a")), (std::vector<Pid>{10, 11}));
  EXPECT_EQ(sandboxes_.find(id_of("a")), nullptr);
  EXPECT_EQ(sandboxes_.drop(id_of("a")), std::vector<Pid>{});
  EXPECT_EQ(sandboxes_.owner(10), std::nullopt);
  EXPECT_EQ(sandboxes_.answered("a.scope"), std::nullopt);
  (void)sandboxes_.get(id_of("a"));
  EXPECT_EQ(sandboxes_.owner(10), std::nullopt);
}

TEST_F(Known, SystemdAnswersOnceAndWhoAskedLast) {
  sandboxes_.await_unit("x.scope", id_of("a"));
  sandboxes_.await_unit("x.scope", id_of("b"));
  EXPECT_EQ(sandboxes_.answered("y.scope"), std::nullopt);
  EXPECT_EQ(sandboxes_.answered("x.scope"), id_of("b"));
  EXPECT_EQ(sandboxes_.answered("x.scope"), std::nullopt);
}

}  // namespace
}  // namespace kcg
