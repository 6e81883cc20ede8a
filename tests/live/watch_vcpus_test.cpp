// SPDX-License-Identifier: Apache-2.0
//
// vCPUs of a real VM of KVM's, as it comes to know them.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/kvm.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <thread>

#include "base/fd.hpp"
#include "daemon/watch/vcpus.hpp"
#include "live/watch_rig.hpp"
#include "proc/kernel_proc.hpp"

namespace kcg::test {
namespace {

constexpr Pid kVmm = 4711;

/// Resource: debugfs, where nobody else mounts it or takes it away.
class Debugfs {
 public:
  Debugfs() : mounted_(::mount("none", place_.path().c_str(), "debugfs", 0, nullptr) == 0) {}
  ~Debugfs() {
    if (mounted_) (void)::umount2(place_.path().c_str(), MNT_DETACH);  // ignored: it is ours
  }
  Debugfs(const Debugfs&) = delete;
  Debugfs& operator=(const Debugfs&) = delete;
  [[nodiscard]] bool mounted() const { return mounted_; }
  [[nodiscard]] std::string kvm() const { return place_ / "kvm"; }

 private:
  Playground place_;
  bool mounted_;
};

/// Resource: a VM without memory and vCPUs.
class Vm {
 public:
  explicit Vm(const Debugfs& debugfs)
      : kvm_(::open("/dev/kvm", O_RDWR | O_CLOEXEC)),
        vm_(::ioctl(kvm_.get(), KVM_CREATE_VM, 0)),
        directory_(fmt::format("{}/{}-{}", debugfs.kvm(), ::gettid(), vm_.get())) {}
  [[nodiscard]] bool made() const { return static_cast<bool>(vm_); }
  [[nodiscard]] const std::string& directory() const { return directory_; }
  /// One that never runs.
  void add_vcpu(int number) const {
    const Fd vcpu(::ioctl(vm_.get(), KVM_CREATE_VCPU, number));
    EXPECT_TRUE(vcpu);
  }
  void end() { vm_ = Fd(); }

 private:
  Fd kvm_;
  Fd vm_;
  std::string directory_;
};

class Vcpus : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    if (!vm_.made()) GTEST_SKIP() << "needs /dev/kvm";
    ASSERT_TRUE(debugfs_.mounted());
  }
  [[nodiscard]] bool told(Pid vmm) { return rig_.hears(HintKind::thread, "", vmm); }

  Debugfs debugfs_;
  Vm vm_{debugfs_};
  Rig rig_;
  std::unique_ptr<KernelProc> proc_ = KernelProc::open().value();
  VcpuWatch watch_{rig_.loop(), *proc_, debugfs_.kvm(), rig_.sink()};
};

TEST_F(Vcpus, AreToldAsKvmComesToKnowThem) {
  vm_.add_vcpu(0);
  EXPECT_FALSE(watch_.hears("S"));
  watch_.watch("S", kVmm, vm_.directory());
  EXPECT_TRUE(watch_.hears("S"));
  vm_.add_vcpu(1);
  EXPECT_TRUE(told(kVmm));
  EXPECT_EQ(rig_.count(HintKind::thread, "", kVmm), 1) << "each once, and none that was known";
}

/// KVM makes dozens of files beside them when it makes a VM, behind the directory.
TEST_F(Vcpus, AreDirectoriesAndFilesAreNoNews) {
  const Playground directory;
  watch_.watch("S", kVmm, directory.path());
  write_file(directory / "pages_4k", "");
  make_directories(directory / "vcpu0");
  EXPECT_TRUE(told(kVmm));
  EXPECT_EQ(rig_.count(HintKind::thread, "", kVmm), 1);
}

/// Not even its VM is there yet: from the first on each vCPU is told.
TEST_F(Vcpus, OfAVmThatIsExpectedAreTold) {
  watch_.expect("S", ::getpid());
  EXPECT_TRUE(watch_.hears("S"));
  const Vm vm(debugfs_);
  EXPECT_TRUE(told(::getpid()));
  EXPECT_TRUE(watch_.hears("S"));
  rig_.forget();
  vm.add_vcpu(0);
  EXPECT_TRUE(told(::getpid()));
}

TEST_F(Vcpus, OfAVmThatAnotherThreadMakesAreTold) {
  watch_.expect("S", ::getpid());
  std::thread([this] {
    const Vm vm(debugfs_);
    EXPECT_TRUE(told(::getpid()));
  }).join();
}

/// Anybody who may open /dev/kvm makes VMs.
TEST_F(Vcpus, OfAStrangersVmAreNotTold) {
  watch_.expect("S", kVmm);
  const Vm strangers(debugfs_);
  watch_.expect("T", ::getpid());
  const Vm fence(debugfs_);
  EXPECT_TRUE(told(::getpid()));
  EXPECT_EQ(rig_.count(HintKind::thread, "", kVmm), 0);
  watch_.unwatch("S");
  EXPECT_FALSE(watch_.hears("S"));
}

/// KVM is loaded, or debugfs mounted, later.
TEST_F(Vcpus, WithoutKvmsDirectoryNobodyIsHeardUntilItIsThere) {
  const Playground directory;
  VcpuWatch watch(rig_.loop(), *proc_, directory / "kvm", rig_.sink());
  watch.expect("S", kVmm);
  EXPECT_FALSE(watch.hears("S"));
  make_directories(directory / "kvm");
  watch.expect("S", kVmm);
  EXPECT_TRUE(watch.hears("S"));
  EXPECT_TRUE(told(kVmm)) << "its VM may have been made before";
}

TEST_F(Vcpus, AVmThatEndsIsNotHeardAnyMore) {
  watch_.watch("S", kVmm, vm_.directory());
  vm_.end();
  EXPECT_TRUE(rig_.until([&] { return !watch_.hears("S"); }));
  EXPECT_TRUE(rig_.hints().empty()) << "its end is told by the VMM's";
  const Vm next(debugfs_);
  watch_.watch("S", kVmm, next.directory());
  next.add_vcpu(0);
  EXPECT_TRUE(told(kVmm));
}

TEST_F(Vcpus, WhoIsLeftOrHasAnotherVmIsNotMistaken) {
  const Vm other(debugfs_);
  watch_.watch("S", kVmm, vm_.directory());
  watch_.watch("T", kVmm + 1, vm_.directory());
  EXPECT_FALSE(watch_.hears("T")) << "a VM is one sandbox's";
  watch_.watch("S", kVmm, other.directory());
  watch_.watch("T", kVmm + 1, vm_.directory());
  vm_.add_vcpu(0);
  EXPECT_TRUE(told(kVmm + 1));
  watch_.unwatch("T");
  EXPECT_FALSE(watch_.hears("T"));
  vm_.add_vcpu(1);
  other.add_vcpu(0);
  EXPECT_TRUE(told(kVmm));
  EXPECT_EQ(rig_.count(HintKind::thread, "", kVmm + 1), 1);
}

TEST_F(Vcpus, WhatIsNoVmIsNotHeard) {
  watch_.watch("S", kVmm, vm_.directory() + "0");
  EXPECT_FALSE(watch_.hears("S"));
}

/// Any directory will do; a VM has not so many vCPUs.
TEST_F(Vcpus, AfterLostEventsNobodyIsHeardUntilWatchedAnew) {
  const Playground directory;
  watch_.watch("S", kVmm, directory.path());
  std::ifstream file("/proc/sys/fs/inotify/max_queued_events");
  unsigned kept = 0;
  ASSERT_TRUE(file >> kept);
  for (unsigned i = 0; i <= kept; ++i) make_directories(directory / std::to_string(i));
  EXPECT_TRUE(rig_.hears(HintKind::rescan, ""));
  EXPECT_FALSE(watch_.hears("S"));
  watch_.expect("T", kVmm + 1);
  EXPECT_TRUE(watch_.hears("T"));
  watch_.watch("S", kVmm, directory.path());
  EXPECT_TRUE(watch_.hears("S"));
  rig_.forget();
  make_directories(directory / "another");
  EXPECT_TRUE(told(kVmm));
}

TEST_F(Vcpus, WhereThereIsNoWatchToBeHadNothingFails) {
  EXPECT_EQ(apart([this] {
              limit_inotify(0, 1);
              const Vm vm(debugfs_);
              Rig rig;
              VcpuWatch watch(rig.loop(), *proc_, debugfs_.kvm(), rig.sink());
              watch.watch("S", kVmm, vm.directory());
              EXPECT_FALSE(watch.hears("S"));
              change_inotify_limits(10, 1);
              watch.watch("S", kVmm, vm.directory());
              EXPECT_TRUE(watch.hears("S")) << "the next look tries again";
            }),
            0);
}

}  // namespace
}  // namespace kcg::test
