// SPDX-License-Identifier: Apache-2.0
#include "daemon/state_store.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

namespace kcg {
namespace {

/// A run directory that ends with the test.
class StateStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/kcg-store-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  [[nodiscard]] std::string directory() const { return root_ + "/run/kata-cgroupd"; }
  void put(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(directory());
    std::ofstream(directory() + "/" + file) << text;
  }

  std::string root_;
  const SandboxId id_ = *SandboxId::parse("s1");
};

TEST_F(StateStoreTest, RefusesASecondInstance) {
  const auto first = StateStore::open(directory());
  ASSERT_TRUE(first) << first.error().text;
  const auto second = StateStore::open(directory());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, EBUSY);
  EXPECT_NE(second.error().text.find("another kata-cgroupd"), std::string::npos);
}

TEST_F(StateStoreTest, TheLockEndsWithItsHolder) {
  {
    ASSERT_TRUE(StateStore::open(directory()));
  }
  EXPECT_TRUE(StateStore::open(directory()));
}

TEST_F(StateStoreTest, RemembersTheFirstStartOfThisBoot) {
  {
    auto store = StateStore::open(directory());
    ASSERT_TRUE(store);
    EXPECT_EQ(store->first_start(100).value(), 100U);
    EXPECT_EQ(store->first_start(200).value(), 100U);
  }
  auto again = StateStore::open(directory());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->first_start(300).value(), 100U);
}

TEST_F(StateStoreTest, AnotherBootStartsAnew) {
  put("first-start.json", R"({"version":1,"boot_id":"another","ticks":7})");
  auto store = StateStore::open(directory());
  ASSERT_TRUE(store);
  EXPECT_EQ(store->first_start(300).value(), 300U);
  EXPECT_TRUE(store->notes().empty());
}

TEST_F(StateStoreTest, AnUnknownVersionIsSetAside) {
  for (const auto* text : {R"({"version":2,"boot_id":"x","ticks":7})", "garbage", "", "[]",
                           R"({"version":"1","boot_id":"x"})", R"({"version":1,"boot_id":5})"}) {
    std::filesystem::remove_all(directory());
    put("first-start.json", text);
    auto store = StateStore::open(directory());
    ASSERT_TRUE(store) << text;
    EXPECT_EQ(store->first_start(300).value(), 300U) << text;
    EXPECT_EQ(store->notes().size(), 1U) << text;
    EXPECT_TRUE(std::filesystem::exists(directory() + "/first-start.json.unknown")) << text;
  }
}

Registration full_registration() {
  Registration r;
  r.cgroups_path = "/kubepods/podU/s1";
  r.annotations = {{"a", "b"}};
  r.handler = "kata";
  r.pod = {"ns", "name", "uid"};
  r.shim = TaskKey{10, 20};
  r.vmm = TaskKey{11, 21};
  r.memory_overhead = UINT64_MAX - 1;
  r.cpu_overhead_milli = 250;
  r.sandbox_cgroup_only = true;
  Resources limits;
  limits.memory_limit = -1;
  limits.cpu_quota = 50000;
  limits.cpu_period = 100000;
  limits.cpu_shares = 2;
  limits.cpus = "0-1";
  limits.hugepages = {{"2MB", 4194304}};
  r.containers = {{"c1", limits}, {"c2", {}}};
  return r;
}

TEST_F(StateStoreTest, RegistrationsSurviveWhole) {
  const auto registration = full_registration();
  {
    auto store = StateStore::open(directory());
    ASSERT_TRUE(store);
    ASSERT_TRUE(store->save({{id_, registration}}));
  }
  const auto again = StateStore::open(directory());
  ASSERT_TRUE(again);
  const auto read = again->registrations();
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 1U);
  EXPECT_EQ(read->at(id_), registration);
}

TEST_F(StateStoreTest, ABadRegistrationIsLeftOutAndTheOthersStay) {
  std::string boot_id;
  {
    auto store = StateStore::open(directory());
    ASSERT_TRUE(store);
    ASSERT_TRUE(store->save({{id_, full_registration()}}));
  }
  std::ifstream in(directory() + "/registrations.json");
  std::string text((std::istreambuf_iterator<char>(in)), {});
  const std::string head = R"("registrations":{)";
  const auto at = text.find(head);
  ASSERT_NE(at, std::string::npos);
  text.insert(at + head.size(), R"("bad":{"handler":5},"../x":{},)");
  put("registrations.json", text);
  const auto again = StateStore::open(directory());
  ASSERT_TRUE(again);
  const auto read = again->registrations();
  ASSERT_TRUE(read);
  EXPECT_EQ(read->size(), 1U);
  EXPECT_EQ(again->notes().size(), 2U);
}

TEST_F(StateStoreTest, NotesOfCreationSurviveACrash) {
  {
    auto store = StateStore::open(directory());
    ASSERT_TRUE(store);
    EXPECT_FALSE(store->creation_noted(id_));
    ASSERT_TRUE(store->note_creation(id_));
  }
  {
    auto store = StateStore::open(directory());
    ASSERT_TRUE(store);
    EXPECT_TRUE(store->creation_noted(id_));
    store->forget_creation(id_);
    EXPECT_FALSE(store->creation_noted(id_));
  }
  const auto store = StateStore::open(directory());
  ASSERT_TRUE(store);
  EXPECT_FALSE(store->creation_noted(id_));
}

TEST_F(StateStoreTest, NotesOfAnotherBootSayNothing) {
  put("creating-s1", "another boot");
  const auto store = StateStore::open(directory());
  ASSERT_TRUE(store);
  EXPECT_FALSE(store->creation_noted(id_));
  EXPECT_FALSE(std::filesystem::exists(directory() + "/creating-s1"));
}

}  // namespace
}  // namespace kcg
