// SPDX-License-Identifier: Apache-2.0
//
// A node that has run out of something: descriptors, inotify watches, a file system that answers.
// Unknown is not absent: what runs is left as it is, who can be placed is placed, the trouble is
// told, and gone when its cause is.
#include <signal.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <vector>

#include "base/text.hpp"
#include "support/live/fixture.hpp"
#include "support/live/kernel.hpp"
#include "support/live/sysctl.hpp"
#include "support/live/wait.hpp"

namespace kcg::live {
namespace {

using std::chrono::seconds;

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// Resource: a file that can be opened as long as it answers, and whose reader waits while it does
/// not.
class SlowFile final {
 public:
  explicit SlowFile(const std::string& directory) : seen_(directory + "/seen") {
    const auto kept = directory + "/kept";
    std::filesystem::create_directories(seen_);
    std::filesystem::create_directories(kept);
    std::ofstream(kept + "/file") << std::string(4096, 'x') << std::flush;
    Command command;
    // Its pages are not cached, so that who maps it waits for whoever reads it.
    command.argv = {"/bin/sh",
                    "-c",
                    "mkfifo to from; /usr/lib/openssh/sftp-server <to >from & "
                    "exec sshfs -f -o passive,direct_io \":$1\" \"$2\" >to <from",
                    "sh",
                    kept,
                    seen_};
    command.directory = directory;
    command.output = directory + "/log";
    server_.emplace(Child::start(command));
    EXPECT_TRUE(wait_until([&] { return exists(path()); })) << slurp(command.output);
  }
  ~SlowFile() {
    answers(true);
    ::umount2(seen_.c_str(), MNT_DETACH);
  }
  SlowFile(const SlowFile&) = delete;
  SlowFile& operator=(const SlowFile&) = delete;
  [[nodiscard]] std::string path() const { return seen_ + "/file"; }
  void answers(bool so) const {
    server_->signal(so ? SIGCONT : SIGSTOP);
    const auto stopped = [&] {
      return slurp(fmt::format("/proc/{}/stat", server_->pid())).find(") T ") != std::string::npos;
    };
    EXPECT_TRUE(wait_until([&] { return stopped() != so; }));
  }

 private:
  std::string seen_;
  std::optional<Child> server_;
};

/// Its threads that cannot even be woken by a signal.
std::size_t stuck_threads(int pid) {
  std::size_t found = 0;
  for (const auto& thread : threads_of(pid)) {
    const auto stat = slurp(fmt::format("/proc/{}/task/{}/stat", pid, thread.tid));
    if (stat.find(") D ") != stat.npos) ++found;
  }
  return found;
}

class LiveShortage : public LiveTest {
 protected:
  using Many = std::vector<std::unique_ptr<Sandbox>>;
  [[nodiscard]] std::unique_ptr<Sandbox> start(
      const std::string& pod, std::map<std::string, std::string> standin = {}) const {
    auto sandbox = node_->sandbox(
        {.pod = pod, .names = true, .light = true, .vcpus = 2, .standin = std::move(standin)});
    sandbox->start();
    return sandbox;
  }
  static void end(Many& all) {
    for (const auto& sandbox : all) sandbox->end();
  }
  /// Nothing else than the trouble itself is complained of, and that once for each source of hints.
  void expect_only(const std::string& trouble) const {
    constexpr std::size_t kSources = 6;
    const auto text = daemon_->complaints();
    for (const auto line : lines(text)) EXPECT_NE(line.find(trouble), line.npos) << line;
    EXPECT_GT(count_of(text, trouble), 0U);
    EXPECT_LE(count_of(text, "\n"), kSources) << text;
  }
};

TEST_P(LiveShortage, OfDescriptorsLosesNoSandbox) {
  constexpr int kSandboxes = 40;
  start_daemon();
  Many all;
  for (int i = 0; i < kSandboxes; ++i) all.push_back(start(fmt::format("pod{}", i)));
  for (const auto& sandbox : all) EXPECT_EQ(settle(*sandbox), "");
  EXPECT_EQ(daemon_->terminate(), 0);
  daemon_ = node_->daemon({.wrapper = {"/usr/bin/prlimit", "--nofile=64:64"}});
  daemon_->start();
  const auto late = start("podlate");
  EXPECT_EQ(settle(*late), "") << "a hint is enough to be placed";
  for (const auto& sandbox : all) EXPECT_EQ(misplaced(*sandbox, sandbox->truth()), "");
  EXPECT_EQ(count_of(daemon_->log(), "RemovalBlocked"), 0U) << daemon_->log();
  EXPECT_EQ(count_of(daemon_->log(), "is gone"), 0U) << daemon_->log();
  end(all);
  for (const auto& sandbox : all) EXPECT_EQ(gone(*sandbox), "");
  EXPECT_EQ(misplaced(*late, late->truth()), "");
  late->end();
  EXPECT_EQ(gone(*late), "");
  EXPECT_FALSE(daemon_->ended());
  expect_only("Too many open files");
}

TEST_P(LiveShortage, OfWatchesStopsNoPlacement) {
  const Sysctl watches("/proc/sys/fs/inotify/max_user_watches", "1");
  start_daemon();
  Many all;
  for (int i = 0; i < 5; ++i) all.push_back(start(fmt::format("pod{}", i)));
  for (const auto& sandbox : all) EXPECT_EQ(settle(*sandbox), "");
  const auto before = cpu_time(daemon_->pid());
  const auto until = std::chrono::steady_clock::now() + seconds(3);
  EXPECT_TRUE(wait_until([&] { return std::chrono::steady_clock::now() > until; }));
  EXPECT_LT(cpu_time(daemon_->pid()) - before, seconds(1)) << "it does not spin";
  expect_only("inotify");
  watches.restore();
  all.push_back(start("podafter"));
  EXPECT_EQ(settle(*all.back()), "");
  end(all);
  for (const auto& sandbox : all) EXPECT_EQ(gone(*sandbox), "");
}

/// A VMM that hangs in the kernel, for instance over its storage: its command line cannot be read.
TEST_P(LiveShortage, OfAnswersHoldsNobodyElseBack) {
  const SlowFile file(node_->run_root() + "/slow");
  start_daemon();
  const auto hanging = start("podhanging", {{"SLOW_FILE", file.path()}});
  EXPECT_EQ(settle(*hanging), "");
  const auto truth = hanging->truth();
  daemon_->kill9();
  file.answers(false);
  for (const std::size_t stuck : {1U, 2U}) {
    ASSERT_EQ(::kill(truth.vmm, SIGUSR1), 0);
    ASSERT_TRUE(wait_until([&] { return stuck_threads(truth.vmm) >= stuck; }));
  }
  ASSERT_EQ(misplaced(*hanging, truth), "");
  daemon_->start();
  const auto other = start("podother");
  EXPECT_EQ(settle(*other), "");
  EXPECT_EQ(misplaced(*hanging, truth), "") << "what cannot be read changes nothing";
  EXPECT_TRUE(wait_until([&] { return count_of(daemon_->log(), "InputUnreadable") == 1; }))
      << daemon_->log();
  EXPECT_EQ(misplaced(*hanging, truth), "");
  other->end();
  EXPECT_EQ(gone(*other), "");
  EXPECT_EQ(count_of(daemon_->log(), "RemovalBlocked"), 0U) << daemon_->log();
  file.answers(true);
  EXPECT_TRUE(wait_until([&] { return daemon_->standing_complaints().empty(); }))
      << daemon_->standing_complaints();
  EXPECT_EQ(misplaced(*hanging, truth), "");
  hanging->end();
  EXPECT_EQ(gone(*hanging), "");
}

KCG_ON_BOTH_TREES(LiveShortage);

}  // namespace
}  // namespace kcg::live
