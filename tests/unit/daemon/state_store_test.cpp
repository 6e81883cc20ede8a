// SPDX-License-Identifier: Apache-2.0
#include "daemon/state_store.hpp"

#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "daemon/manager.hpp"
#include "daemon/registration_json.hpp"

namespace kcg {
namespace {

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  return text.replace(text.find(what), what.size(), by);
}

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

  [[nodiscard]] std::string text_of(const std::string& file) const {
    std::ifstream in(directory() + "/" + file);
    return std::string((std::istreambuf_iterator<char>(in)), {});
  }
  [[nodiscard]] static std::string boot_id() {
    std::ifstream in("/proc/sys/kernel/random/boot_id");
    std::string id;
    in >> id;
    return id;
  }
  /// One life of the daemon that saves.
  void save(const std::map<SandboxId, Registration>& registrations) const {
    auto store = StateStore::open(directory());
    ASSERT_TRUE(store) << store.error().text;
    (void)store->registrations();
    for (const auto& [id, registration] : registrations) ASSERT_TRUE(store->save(id, registration));
  }
  /// The next life, and what it had to say.
  [[nodiscard]] std::map<SandboxId, Registration> load() {
    auto store = StateStore::open(directory());
    if (!store) return {};
    auto found = store->registrations();
    notes_ = store->notes();
    return found;
  }

  std::string root_;
  std::vector<std::string> notes_;
  const SandboxId other_ = *SandboxId::parse("s9");
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
    EXPECT_EQ(store->first_start(100), 100U);
    EXPECT_EQ(store->first_start(200), 100U);
  }
  auto again = StateStore::open(directory());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->first_start(300), 100U);
}

TEST_F(StateStoreTest, AnotherBootStartsAnew) {
  put("first-start.json", R"({"version":1,"boot_id":"another","ticks":7})");
  auto store = StateStore::open(directory());
  ASSERT_TRUE(store);
  EXPECT_EQ(store->first_start(300), 300U);
  EXPECT_TRUE(store->notes().empty());
}

TEST_F(StateStoreTest, AnUnknownVersionIsSetAside) {
  for (const auto* text : {R"({"version":2,"boot_id":"x","ticks":7})", "garbage", "", "[]",
                           R"({"version":"1","boot_id":"x"})", R"({"version":1,"boot_id":5})"}) {
    std::filesystem::remove_all(directory());
    put("first-start.json", text);
    auto store = StateStore::open(directory());
    ASSERT_TRUE(store) << text;
    EXPECT_EQ(store->first_start(300), 300U) << text;
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
  r.since = 1'700'000'000;
  r.uid = 7;
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
  save({{id_, registration}});
  const auto read = load();
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read.at(id_), registration);
  EXPECT_EQ(notes_, std::vector<std::string>());
}

TEST_F(StateStoreTest, WhatIsRemovedDoesNotComeBack) {
  save({{id_, full_registration()}, {other_, full_registration()}});
  {
    auto store = StateStore::open(directory());
    ASSERT_TRUE(store);
    (void)store->registrations();
    ASSERT_TRUE(store->remove(id_));
    ASSERT_TRUE(store->remove(id_)) << "twice";
  }
  const auto read = load();
  EXPECT_EQ(read.size(), 1U);
  EXPECT_TRUE(read.contains(other_));
}

/// A registration that takes exactly `bytes` as it is saved.
Registration registration_of(std::size_t bytes, const std::function<std::size_t()>& saved_size,
                             const std::function<void(const Registration&)>& save) {
  Registration r;
  r.annotations["a"] = "";
  save(r);
  r.annotations["a"] = std::string(bytes - saved_size(), 'x');
  return r;
}

TEST_F(StateStoreTest, WhatIsSavedCanBeReadWhateverItsSize) {
  auto store = StateStore::open(directory());
  ASSERT_TRUE(store);
  (void)store->registrations();
  const auto largest = registration_of(
      RegistrationStore::kLargest,
      [&] { return std::filesystem::file_size(directory() + "/registrations/s1.json"); },
      [&](const Registration& r) { ASSERT_TRUE(store->save(id_, r)); });
  ASSERT_TRUE(store->save(id_, largest));
  auto larger = largest;
  larger.annotations["a"] += "x";
  const auto refused = store->save(id_, larger);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, static_cast<int>(ManagerError::limit_reached));
  EXPECT_NE(refused.error().text.find("262145 bytes"), std::string::npos) << refused.error().text;
  const auto read = store->registrations();
  ASSERT_TRUE(read.contains(id_)) << "what was saved before stays";
  EXPECT_EQ(read.at(id_), largest);
}

TEST_F(StateStoreTest, ManyRegistrationsSurvive) {
  // More than 1 MiB together: what one file once could not hold.
  std::map<SandboxId, Registration> many;
  auto registration = full_registration();
  registration.annotations["long"] = std::string(4000, 'x');
  for (int i = 0; i < 400; ++i)
    many.emplace(*SandboxId::parse("s" + std::to_string(i)), registration);
  save(many);
  EXPECT_EQ(load(), many);
}

TEST_F(StateStoreTest, SavingOneDoesNotWriteTheOthers) {
  save({{id_, full_registration()}});
  const auto file = directory() + "/registrations/s1.json";
  const auto before = std::filesystem::last_write_time(file);
  save({{other_, full_registration()}});
  EXPECT_EQ(std::filesystem::last_write_time(file), before);
}

TEST_F(StateStoreTest, ABadRegistrationIsSetAsideAndTheOthersStay) {
  save({{id_, full_registration()}});
  const auto good = text_of("registrations/s1.json");
  const struct {
    const char* name;
    const char* file;
    std::string text;
  } rows[] = {
      {"empty", "s2.json", ""},
      {"half", "s2.json", good.substr(0, good.size() / 2)},
      {"another version", "s2.json", replaced(good, R"("version":1)", R"("version":2)")},
      {"a version that is none", "s2.json", replaced(good, R"("version":1)", R"("version":"1")")},
      {"a field of another type", "s2.json",
       replaced(good, R"("handler":"kata")", R"("handler":5)")},
      {"no registration", "s2.json", replaced(good, "\"registration\"", "\"registratiom\"")},
      {"not a sandbox's name", "_x.json", good},
      {"too large", "s2.json", good + std::string(RegistrationStore::kLargest, ' ')},
  };
  for (const auto& row : rows) {
    put(std::string("registrations/") + row.file, row.text);
    EXPECT_EQ(load().size(), 1U) << row.name;
    ASSERT_EQ(notes_.size(), 1U) << row.name;
    EXPECT_NE(notes_[0].find("set aside as " + std::string(row.file) + ".unknown"),
              std::string::npos)
        << row.name << notes_[0];
    (void)load();
    EXPECT_TRUE(notes_.empty()) << row.name << ": told once";
  }
}

TEST_F(StateStoreTest, ABadRegistrationIsToldByKeyAndValue) {
  save({{id_, full_registration()}});
  const auto good = text_of("registrations/s1.json");
  const struct {
    const char *from, *to, *said;
  } rows[] = {
      {R"("cpu_overhead_milli":250)", R"("cpu_overhead_milli":257777777777777777777777777777770)",
       "cpu_overhead_milli: 2.57777777777777"},
      {R"("cpu_overhead_milli":250)", R"("cpu_overhead_milli":4294967296)",
       "cpu_overhead_milli: 4294967296, not a whole number from 0 to 2^32-1"},
      {R"("uid":7)", R"("uid":-1)", "uid: -1, not"},
      {R"("pid":10)", R"("pid":0)", "shim.pid: missing, or not a process"},
      {R"("pid":11)", R"("pid":2147483648)", "vmm.pid: missing, or not a process"},
      {R"("start":20)", R"("start":1.5)", "shim.start: 1.5, not"},
      {R"("2MB":4194304)", R"("2MB":true)", "containers.c1.hugepages.2MB: true, not"},
      {R"({"a":"b"})", R"({"a":1})", "annotations.a: 1, not a string"},
      {R"("annotations")", R"("annotation")", "annotations: missing"},
      {R"("containers")", R"("container")", "containers: missing"},
  };
  for (const auto& row : rows) {
    put("registrations/s2.json", replaced(good, row.from, row.to));
    EXPECT_EQ(load().size(), 1U) << row.to;
    ASSERT_EQ(notes_.size(), 1U) << row.to;
    EXPECT_NE(notes_[0].find(row.said), std::string::npos) << row.to << ": " << notes_[0];
  }
}

TEST_F(StateStoreTest, RegistrationsOfAnotherBootGo) {
  save({{id_, full_registration()}});
  const auto text = text_of("registrations/s1.json");
  const auto at = text.find("boot_id") + 10;
  put("registrations/s1.json", text.substr(0, at) + "another" + text.substr(at + 36));
  EXPECT_TRUE(load().empty());
  EXPECT_TRUE(notes_.empty());
  EXPECT_FALSE(std::filesystem::exists(directory() + "/registrations/s1.json"));
}

TEST_F(StateStoreTest, WhatStandsInTheWayIsSetAside) {
  std::filesystem::create_directories(directory() + "/registrations.json/x");
  std::filesystem::create_directories(directory() + "/first-start.json/x");
  put("registrations", "a file");
  auto store = StateStore::open(directory());
  ASSERT_TRUE(store) << store.error().text;
  EXPECT_EQ(store->first_start(300), 300U);
  EXPECT_TRUE(store->registrations().empty());
  EXPECT_EQ(store->notes().size(), 3U) << fmt::format("{}", fmt::join(store->notes(), "; "));
  EXPECT_TRUE(store->save(id_, full_registration()));
  EXPECT_EQ(store->first_start(400), 300U);
}

/// The one file of earlier versions.
std::string former_file(const std::string& boot_id, const std::string& entries) {
  return R"({"version":1,"boot_id":")" + boot_id + R"(","registrations":{)" + entries + "}}";
}

TEST_F(StateStoreTest, TheFormerFileIsTakenOverOnce) {
  const auto json = registration_to_json(full_registration()).dump();
  std::string entries = R"("bad":{"handler":5},"../x":{})";
  for (int i = 0; i < 3000; ++i) entries += ",\"s" + std::to_string(i) + "\":" + json;
  put("registrations.json", former_file(boot_id(), entries));
  EXPECT_EQ(load().size(), 3000U) << "1.5 MB";
  EXPECT_EQ(notes_.size(), 2U);
  EXPECT_FALSE(std::filesystem::exists(directory() + "/registrations.json"));
  EXPECT_EQ(load().size(), 3000U);
  EXPECT_EQ(notes_.size(), 0U);
}

TEST_F(StateStoreTest, AFormerFileOfAnotherBootGoes) {
  put("registrations.json",
      former_file("another", "\"s1\":" + registration_to_json(full_registration()).dump()));
  EXPECT_TRUE(load().empty());
  EXPECT_FALSE(std::filesystem::exists(directory() + "/registrations.json"));
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
