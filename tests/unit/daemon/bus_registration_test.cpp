// SPDX-License-Identifier: Apache-2.0
#include "daemon/bus/registration.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>

#include "base/fd.hpp"
#include "daemon/bus/pidfd.hpp"
#include "daemon/manager.hpp"
#include "kernel/proc_stat.hpp"

namespace kcg::bus {
namespace {

using Variant = sdbus::Variant;

Fd pidfd_of(pid_t pid) { return Fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))); }

TaskKey own_key() {
  std::ifstream file("/proc/self/stat");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return parse_proc_stat(text)->key();
}

/// A child that waits to be killed.
class Child final {
 public:
  Child() : pid_(fork()) {
    if (pid_ == 0) {
      pause();
      _exit(0);
    }
  }
  ~Child() { end(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(TaskOfPidfd, PidAndStartTime) {
  EXPECT_EQ(task_of_pidfd(pidfd_of(getpid()).get()).value(), own_key());
  const Child child;
  EXPECT_EQ(task_of_pidfd(pidfd_of(child.pid()).get())->pid, child.pid());
}

TEST(TaskOfPidfd, AnEndedProcessIsNone) {
  Child child;
  const auto fd = pidfd_of(child.pid());
  child.end();
  const auto task = task_of_pidfd(fd.get());
  ASSERT_FALSE(task);
  EXPECT_EQ(task.error().text, "the process has ended");
}

TEST(TaskOfPidfd, OtherDescriptorsAreNone) {
  const Fd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(task_of_pidfd(null.get()).error().text, "not a pidfd");
  EXPECT_FALSE(task_of_pidfd(-1));
}

Properties container(const char* id, const Properties& limits, int times = 1) {
  std::vector<sdbus::Struct<std::string, Properties>> list;
  for (int i = 0; i < times; ++i) list.emplace_back(std::string(id), limits);
  return {{"Containers", Variant(list)}};
}

TEST(Registration, NothingSaidIsNothingKnown) {
  EXPECT_EQ(registration_from({}).value(), Registration{});
}

TEST(Registration, EveryKey) {
  const sdbus::UnixFd fd(pidfd_of(getpid()).get());
  const Properties limits = {
      {"MemoryLimit", Variant(std::uint64_t{1024})},
      {"CpuQuota", Variant(UINT64_MAX)},
      {"CpuPeriod", Variant(std::uint64_t{100'000})},
      {"CpuShares", Variant(std::uint64_t{512})},
      {"Cpus", Variant(std::string("0-1"))},
      {"Mems", Variant(std::string("0"))},
      {"Hugepages", Variant(std::map<std::string, std::uint64_t>{{"2MB", 7}})}};
  auto said = container("c1", limits);
  said["CgroupsPath"] = Variant(std::string("/a/b"));
  said["Annotations"] = Variant(std::map<std::string, std::string>{{"k", "v"}});
  said["RuntimeHandler"] = Variant(std::string("kata"));
  said["PodNamespace"] = Variant(std::string("n"));
  said["PodName"] = Variant(std::string("p"));
  said["PodUid"] = Variant(std::string("u"));
  said["ShimPidFd"] = Variant(fd);
  said["VmmPidFd"] = Variant(fd);
  said["MemoryOverhead"] = Variant(std::uint64_t{367'001'600});
  said["CpuOverheadMilli"] = Variant(std::uint32_t{250});
  said["SandboxCgroupOnly"] = Variant(false);
  Registration wanted;
  wanted.cgroups_path = "/a/b";
  wanted.annotations = {{"k", "v"}};
  wanted.handler = "kata";
  wanted.pod = {"n", "p", "u"};
  wanted.shim = own_key();
  wanted.vmm = own_key();
  wanted.memory_overhead = 367'001'600;
  wanted.cpu_overhead_milli = 250;
  wanted.sandbox_cgroup_only = false;
  Resources& resources = wanted.containers["c1"];
  resources.memory_limit = 1024;
  resources.cpu_quota = -1;
  resources.cpu_period = 100'000;
  resources.cpu_shares = 512;
  resources.cpus = "0-1";
  resources.mems = "0";
  resources.hugepages = {{"2MB", 7}};
  const auto got = registration_from(said);
  ASSERT_TRUE(got) << got.error().text;
  EXPECT_EQ(*got, wanted);
  EXPECT_EQ(said.size(), registration_keys().size()) << "a key is not tested";
}

TEST(Registration, RefusesAndNamesWhat) {
  const sdbus::UnixFd null(open("/dev/null", O_RDONLY | O_CLOEXEC), sdbus::adopt_fd);
  const Variant number(std::uint64_t{1});
  const struct {
    const char* name;
    Properties said;
    const char* text;
  } rows[] = {
      {"unknown key", {{"Nonsense", number}}, "unknown key 'Nonsense'; known are: Annotations, "},
      {"a control character in a key", {{"A\n", number}}, "unknown key 'A\\x0a'"},
      {"number for text", {{"PodName", number}}, "PodName: a value of type 't', must be 's'"},
      {"text for a number",
       {{"MemoryOverhead", Variant(std::string("1"))}},
       "MemoryOverhead: a value of type 's', must be 't'"},
      {"number for a descriptor", {{"ShimPidFd", number}}, "ShimPidFd: a value of type 't'"},
      {"no pidfd", {{"VmmPidFd", Variant(null)}}, "VmmPidFd: not a pidfd"},
      {"unknown key of a container", container("c1", {{"Memory", number}}),
       "Containers: 'c1': unknown key 'Memory'"},
      {"wrong type in a container", container("c1", {{"Cpus", number}}),
       "Containers: 'c1': Cpus: a value of type 't', must be 's'"},
      {"a container twice", container("c1", {}, 2), "Containers: 'c1': given twice"},
      {"containers of another shape",
       {{"Containers", Variant(Properties{})}},
       "Containers: a value of type 'a{sv}', must be 'a(sa{sv})'"},
  };
  for (const auto& row : rows) {
    const auto got = registration_from(row.said);
    ASSERT_FALSE(got) << row.name;
    EXPECT_EQ(got.error().code, static_cast<int>(ManagerError::invalid_argument)) << row.name;
    EXPECT_NE(got.error().text.find(row.text), std::string::npos) << got.error().text;
  }
}

TEST(Registration, KeysAreSorted) {
  const auto keys = registration_keys();
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
}

}  // namespace
}  // namespace kcg::bus
