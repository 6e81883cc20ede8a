// SPDX-License-Identifier: Apache-2.0
#include "proc/kvm_debugfs.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "proc_fixture.hpp"

namespace kcg::test {

namespace {

using Vcpus = std::map<std::uint32_t, Pid>;

std::vector<ThreadFacts> threads(std::initializer_list<Pid> tids) {
  std::vector<ThreadFacts> found;
  for (const Pid tid : tids) {
    found.emplace_back();
    found.back().key.pid = tid;
  }
  return found;
}

class KvmDebugfsTest : public ::testing::Test {
 protected:
  [[nodiscard]] Vcpus vcpus(std::initializer_list<Pid> tids) {
    return kvm_.vcpus({30, 1}, threads(tids)).value().tid_of;
  }
  ProcFixture fixture_;
  KvmDebugfs kvm_{fixture_.kvm()};
};

TEST_F(KvmDebugfsTest, TheDirectoryIsNamedAfterAnyThread) {
  fixture_.vcpu("99-10", 0, "98\n");
  fixture_.vcpu("31-11", 0, "32\n");
  fixture_.vcpu("31-11", 1, "33\n");
  EXPECT_EQ(vcpus({30, 31, 32, 33}), (Vcpus{{0, 32}, {1, 33}}));
  EXPECT_EQ(kvm_.vcpus({30, 1}, {}).value().directory, fixture_.kvm() + "/31-11");
  EXPECT_EQ(kvm_.vcpus({40, 1}, {}).value().directory, "");
}

TEST_F(KvmDebugfsTest, AVcpuThatHasNotRunIsZero) {
  fixture_.vcpu("30-11", 0, "32\n");
  fixture_.vcpu("30-11", 10, "0\n");
  EXPECT_EQ(vcpus({30, 32}), (Vcpus{{0, 32}, {10, 0}}));
}

TEST_F(KvmDebugfsTest, TheMakerMayHaveEnded) {
  fixture_.vcpu("98-9", 0, "97\n");
  fixture_.vcpu("31-11", 0, "32\n");
  EXPECT_EQ(vcpus({30, 32}), (Vcpus{{0, 32}}));
}

TEST_F(KvmDebugfsTest, AnotherVmIsNotOurs) {
  fixture_.vcpu("98-9", 0, "97\n");
  fixture_.vcpu("98-10", 0, "0\n");
  EXPECT_EQ(vcpus({30, 32}), Vcpus{});
}

/// Each is read for its own VMM alone, however many there are.
TEST_F(KvmDebugfsTest, AVmThatHasAVmmIsNobodyElses) {
  fixture_.vcpu("98-9", 0, "97\n");
  EXPECT_EQ(kvm_.vcpus({98, 1}, threads({98, 97})).value().tid_of, (Vcpus{{0, 97}}));
  EXPECT_EQ(vcpus({30, 97}), Vcpus{});
  kvm_.forget(98);
  EXPECT_EQ(vcpus({30, 97}), (Vcpus{{0, 97}}));
}

TEST_F(KvmDebugfsTest, OldKernelsNameNoThreads) {
  std::filesystem::create_directories(fixture_.kvm() + "/30-11/vcpu0");
  EXPECT_EQ(vcpus({30, 32}), Vcpus{});
  EXPECT_EQ(kvm_.vcpus({30, 1}, {})->silent, 1U);
}

/// The file is made after the directory, which is what is heard of.
TEST_F(KvmDebugfsTest, AVcpuThatIsBeingMadeHasNotRun) {
  fixture_.vcpu("30-11", 0, "32\n");
  EXPECT_EQ(vcpus({30, 32}), (Vcpus{{0, 32}}));
  std::filesystem::create_directories(fixture_.kvm() + "/30-11/vcpu1");
  EXPECT_EQ(vcpus({30, 32, 33}), (Vcpus{{0, 32}, {1, 0}}));
  EXPECT_EQ(kvm_.vcpus({30, 1}, {})->silent, 0U);
}

TEST_F(KvmDebugfsTest, FilesAndOtherDirectoriesAreNoVcpus) {
  fixture_.vcpu("30-11", 0, "32\n");
  std::filesystem::create_directories(fixture_.kvm() + "/30-11/vcpux");
  std::filesystem::create_directories(fixture_.kvm() + "/30-11/stats");
  std::filesystem::create_directories(fixture_.kvm() + "/exits");
  EXPECT_EQ(vcpus({30, 32}), (Vcpus{{0, 32}}));
}

TEST_F(KvmDebugfsTest, TheNameIsKeptForTheVmm) {
  fixture_.vcpu("30-11", 0, "32\n");
  EXPECT_EQ(vcpus({30, 32}), (Vcpus{{0, 32}}));
  // Found again although its name does not tell any more: nobody searched.
  EXPECT_EQ(vcpus({}), (Vcpus{{0, 32}}));
  kvm_.forget(30);
  EXPECT_EQ(vcpus({}), Vcpus{});
}

TEST_F(KvmDebugfsTest, ANewVmOfTheSameVmmIsFound) {
  fixture_.vcpu("30-11", 0, "32\n");
  EXPECT_EQ(vcpus({30, 32}), (Vcpus{{0, 32}}));
  std::filesystem::remove_all(fixture_.kvm() + "/30-11");
  EXPECT_EQ(vcpus({30}), Vcpus{});
  fixture_.vcpu("30-12", 0, "35\n");
  EXPECT_EQ(vcpus({30, 35}), (Vcpus{{0, 35}}));
}

TEST_F(KvmDebugfsTest, AnotherVmOfTheSameNameIsLookedForAnew) {
  fixture_.vcpu("30-11", 0, "32\n");
  EXPECT_EQ(vcpus({30, 32}), (Vcpus{{0, 32}}));
  std::filesystem::rename(fixture_.kvm() + "/30-11", fixture_.top() / "old");
  fixture_.vcpu("30-11", 0, "97\n");
  EXPECT_EQ(vcpus({32}), Vcpus{}) << "somebody else's, by its threads";
}

TEST_F(KvmDebugfsTest, AVcpuThatIsPluggedInIsFound) {
  fixture_.vcpu("30-11", 0, "32\n");
  EXPECT_EQ(vcpus({30, 32}), (Vcpus{{0, 32}}));
  fixture_.vcpu("30-11", 7, "33\n");
  EXPECT_EQ(vcpus({30, 32, 33}), (Vcpus{{0, 32}, {7, 33}}));
}

/// However many VMs somebody has whose makers have ended, a look reads a few.
TEST_F(KvmDebugfsTest, OfManyOthersAFewAreReadAndTheRestTheNextTime) {
  for (std::size_t i = 0; i < KvmDebugfs::kMostOthers; ++i)
    fixture_.vcpu("20-" + std::to_string(i), 0, "97\n");
  fixture_.vcpu("31-11", 0, "32\n");
  EXPECT_EQ(vcpus({30, 32}), Vcpus{});
  EXPECT_EQ(vcpus({30, 32}), (Vcpus{{0, 32}}));
}

TEST_F(KvmDebugfsTest, NoDebugfsIsENOENT) {
  std::filesystem::remove_all(fixture_.kvm());
  EXPECT_EQ(kvm_.vcpus({30, 1}, threads({30})).error().code, ENOENT);
}

}  // namespace

}  // namespace kcg::test
