// SPDX-License-Identifier: Apache-2.0
//
// What an unprivileged user with a cgroup of his own, and a second daemon with a run root of its
// own, can make the daemon do: nothing.
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "support/live/fixture.hpp"
#include "support/live/kernel.hpp"
#include "support/live/must.hpp"
#include "support/live/programs.hpp"
#include "support/live/wait.hpp"

namespace kcg::live {
namespace {

constexpr unsigned kUser = 65534;
/// For the time between fork and exec.
void or_end(int failed) {
  if (failed != 0) ::_exit(1);
}

class LiveTrust : public LiveTest {
 protected:
  /// The same path in every hierarchy that the daemon manages.
  [[nodiscard]] std::vector<std::string> everywhere(const std::string& path) const {
    std::vector<std::string> directories;
    for (const auto& mount : node_->corner().managed()) directories.push_back(mount.path + path);
    return directories;
  }
  [[nodiscard]] std::string program(const std::string& original, const std::string& name) const {
    const auto directory = node_->run_root() + "/programs";
    std::filesystem::create_directories(directory);
    std::filesystem::copy_file(original, directory + "/" + name,
                               std::filesystem::copy_options::overwrite_existing);
    return directory + "/" + name;
  }
  /// A group that is the user's own, as a service with Delegate= and User= has one, and below it
  /// another that he made himself and marked with the victim's id, as versions before did.
  [[nodiscard]] std::string forge(const Sandbox& victim) const {
    const auto own = node_->corner().top() + "/delegated";
    const auto forged = own + "/kata-sandbox-" + victim.id();
    node_->corner().make(own);
    for (const auto& directory : everywhere(own)) {
      EXPECT_EQ(::chown(directory.c_str(), kUser, kUser), 0);
      for (const auto& file : std::filesystem::directory_iterator(directory))
        EXPECT_EQ(::chown(file.path().c_str(), kUser, kUser), 0);
    }
    Command command;
    command.argv = {"/bin/true"};
    command.groups = node_->corner().system();
    command.before_exec = [directories = everywhere(forged), id = victim.id()] {
      or_end(::setresgid(kUser, kUser, kUser));
      or_end(::setresuid(kUser, kUser, kUser));
      for (const auto& directory : directories) {
        or_end(::mkdir(directory.c_str(), 0755));
        or_end(::setxattr(directory.c_str(), "user.kata-cgroupd", id.data(), id.size(), 0));
        if (::setxattr(directory.c_str(), "trusted.kata-cgroupd", id.data(), id.size(), 0) == 0)
          ::_exit(2);
      }
    };
    auto maker = Child::start(command);
    EXPECT_EQ(maker.wait(kPatience), 0) << "the kernel let him set what only root may";
    if (v1()) {  // an empty cpuset takes nobody in
      for (const char* const file : {"/cpuset.cpus", "/cpuset.mems"}) {
        const auto from = node_->corner().directory(own, "cpuset") + file;
        EXPECT_EQ(scribble(node_->corner().directory(forged, "cpuset") + file, slurp_line(from)),
                  0);
      }
    }
    return forged;
  }
  /// An orphan with QEMU's arguments, of the user's, in his own group; its pid.
  [[nodiscard]] int orphan(const Sandbox& victim, const std::string& group) const {
    Command command;
    command.argv = {program(light_vmm(), "qemu-system-x86_64"), "-name", "sandbox-" + victim.id()};
    command.groups = node_->corner().system();
    for (const auto& directory : everywhere(group)) command.groups.push_back(directory);
    command.output = "/dev/null";
    command.before_exec = [] {
      if (::fork() != 0) ::_exit(0);
      or_end(::setresgid(kUser, kUser, kUser));
      or_end(::setresuid(kUser, kUser, kUser));
    };
    auto parent = Child::start(command);
    EXPECT_EQ(parent.wait(kPatience), 0);
    const auto procs = everywhere(group).front() + "/cgroup.procs";
    EXPECT_TRUE(wait_until([&] {
      const auto args = arguments_of(std::atoi(slurp_line(procs).c_str()));
      return args.size() > 2 && args[2] == "sandbox-" + victim.id();
    })) << procs;
    return std::atoi(slurp_line(procs).c_str());
  }
};

TEST_P(LiveTrust, AForgedMarkGainsNothing) {
  start_daemon();
  const auto victim = placed({.vcpus = 2});
  const auto group = forge(*victim);
  const int process = orphan(*victim, group);
  daemon_->kill9();
  daemon_->start();
  const auto control = placed({.pod = "podcontrol", .light = true});
  EXPECT_EQ(misplaced(*victim, victim->truth()), "");
  const auto now = groups_of(process);
  if (v1())
    for (const char* const controller : {"cpu", "cpuset", "memory", "pids"})
      EXPECT_EQ(now.at(controller), group);
  else
    EXPECT_EQ(now.at(""), group);
  EXPECT_EQ(daemon_->standing_complaints(), "") << "and it is nobody's trouble";
  victim->end();
  // He cannot hold the victim's groups back either; his own stay, with him in them.
  std::string left;
  EXPECT_TRUE(wait_until([&] {
    left.clear();
    for (const auto& found : node_->corner().find("kata-sandbox-" + victim->id()))
      if (found.find("/delegated/") == std::string::npos) left += found + "\n";
    return left.empty();
  })) << left;
  EXPECT_TRUE(alive(process));
  ASSERT_EQ(::kill(process, SIGKILL), 0);
  ASSERT_TRUE(wait_until([&] { return !alive(process); }));
  daemon_->kill9();
  daemon_->start();
  for (const auto& directory : everywhere(group)) EXPECT_TRUE(exists(directory)) << directory;
}

TEST_P(LiveTrust, TwoRunRootsKnowNothingOfEachOther) {
  start_daemon();
  const auto other_root = node_->run_root() + "/other";
  std::filesystem::create_directories(other_root + "/run");
  Daemon other(GetParam(), other_root, {});
  other.start();
  const auto sandbox = placed({.vcpus = 2});
  Sandbox others(node_->corner(), other_root, {.pod = "podother", .light = true});
  others.start();
  EXPECT_EQ(settle(others), "");
  // What one made, and nobody describes any more, the other leaves alone at every start.
  daemon_->kill9();
  other.kill9();
  sandbox->end();
  others.end();
  const auto left = [&](const Sandbox& of) {
    return node_->corner().find("kata-sandbox-" + of.id()).size();
  };
  const auto before = left(*sandbox);
  EXPECT_GT(before, 0U);
  other.start();
  EXPECT_EQ(gone(others), "");
  EXPECT_EQ(left(*sandbox), before);
  EXPECT_EQ(other.log().find(sandbox->id()), std::string::npos) << other.log();
  daemon_->start();
  EXPECT_EQ(gone(*sandbox), "") << "what its own earlier life made goes, also without a bundle";
  EXPECT_EQ(daemon_->log().find(others.id()), std::string::npos);
}

/// Any user can run any program under any name with a megabyte of arguments.
TEST_P(LiveTrust, ShimsThatAreNoneCostNoMemory) {
  constexpr int kImpostors = 300;
  constexpr std::uint64_t kMaxGrowthKib = 8 * 1024 + kQuarantineKib;
  start_daemon();
  placed({.pod = "podbefore", .light = true})->end();
  const auto before = resident_kib(daemon_->pid());
  const auto impostor = program("/bin/true", "containerd-shim-kata-v2");
  for (int i = 0; i < kImpostors; ++i) {
    Command command;
    command.argv = {impostor, "-id", std::to_string(i)};
    for (int part = 0; part < 10; ++part) command.argv.emplace_back(100'000, 'x');
    command.groups = node_->corner().system();
    command.before_exec = [] { or_end(::setresuid(kUser, kUser, kUser)); };
    auto child = Child::start(command);
    EXPECT_EQ(child.wait(kPatience), 0);
  }
  const auto after = placed({.pod = "podafter", .light = true});
  const auto now = resident_kib(daemon_->pid());
  RecordProperty("before_kib", static_cast<int>(before));
  RecordProperty("after_kib", static_cast<int>(now));
  EXPECT_LE(now, before + kMaxGrowthKib);
}

KCG_ON_BOTH_TREES(LiveTrust);

}  // namespace
}  // namespace kcg::live
