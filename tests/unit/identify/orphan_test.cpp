// SPDX-License-Identifier: Apache-2.0
#include "identify/orphan.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kcg {

namespace {

const SandboxId kOrphaned = SandboxId::parse("S").value();

ProcFacts running(std::string exe, std::vector<std::string> args) {
  ProcFacts facts;
  facts.key = {7, 70};
  facts.ppid = 1;
  facts.exe = std::move(exe);
  facts.args = std::move(args);
  facts.same_pid_ns = facts.same_user_ns = facts.same_root = true;
  return facts;
}

ProcFacts qemu_named(const std::string& name) {
  return running("/usr/bin/qemu-system-x86_64", {"qemu-system-x86_64", "-name", name});
}

TEST(Orphan, OnlyInitsChildInOurGroupMaySpeakForItself) {
  const auto who = qemu_named("sandbox-S");
  EXPECT_TRUE(may_be_orphan(who, true));
  EXPECT_FALSE(may_be_orphan(who, false));
  auto child = who;
  child.ppid = 8;
  EXPECT_FALSE(may_be_orphan(child, true)) << "its parent has to vouch for it";
  auto contained = who;
  contained.same_pid_ns = false;
  EXPECT_FALSE(may_be_orphan(contained, true));
  auto kernel = who;
  kernel.kernel_thread = true;
  EXPECT_FALSE(may_be_orphan(kernel, true));
  auto another_user = who;
  another_user.real_uid = 1000;
  EXPECT_TRUE(may_be_orphan(another_user, true)) << "Kata can run its VMM as any";
}

TEST(Orphan, IsWhatItsCommandLineSays) {
  const auto vmm = orphan(qemu_named("sandbox-S"), kOrphaned);
  ASSERT_TRUE(vmm);
  EXPECT_EQ(*vmm, (Trusted{{7, 70}, ProcessRole::vmm, Hypervisor::qemu}));
  const auto files =
      orphan(running("/usr/libexec/virtiofsd",
                     {"virtiofsd", "--shared-dir=/run/kata-containers/shared/sandboxes/S/shared"}),
             kOrphaned);
  ASSERT_TRUE(files);
  EXPECT_EQ(*files, (Trusted{{7, 70}, ProcessRole::virtiofsd, Hypervisor::unknown}));
  EXPECT_FALSE(orphan(qemu_named("sandbox-T"), kOrphaned)) << "another sandbox's";
  EXPECT_FALSE(orphan(running("/bin/sleep", {"sleep", "1"}), kOrphaned));
}

}  // namespace

}  // namespace kcg
