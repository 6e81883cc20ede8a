// SPDX-License-Identifier: Apache-2.0
//
// A guest that makes its VMM's threads name themselves without end: others are placed as usual, and
// the daemon reads no more than a bounded number of files for it. What it could not hear it finds.
#include <sys/prctl.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "base/text.hpp"
#include "proc/connector.hpp"
#include "support/live/fixture.hpp"
#include "support/live/kernel.hpp"
#include "support/live/wait.hpp"

namespace kcg::live {
namespace {

/// A number in a file of "key: value" lines.
std::uint64_t number_in(const std::string& path, std::string_view key) {
  const auto text = slurp(path);
  for (const auto line : lines(text))
    if (line.starts_with(key)) return parse_u64(trim(line.substr(line.find(':') + 1))).value_or(0);
  return 0;
}

class LiveFlood : public LiveTest {
 protected:
  [[nodiscard]] std::unique_ptr<Sandbox> start(const std::string& pod,
                                               const std::string& noise_us) {
    SandboxSpec spec{.pod = pod, .names = true, .light = true, .vcpus = 2};
    if (!noise_us.empty()) spec.standin["NOISE_US"] = noise_us;
    auto sandbox = node_->sandbox(std::move(spec));
    sandbox->start();
    return sandbox;
  }
  /// How often the noisy thread has named itself: it sleeps once each time.
  [[nodiscard]] static std::uint64_t renames(int vmm) {
    for (const auto& thread : threads_of(vmm))
      if (thread.comm == "noise")
        return number_in(fmt::format("/proc/{}/task/{}/status", vmm, thread.tid),
                         "voluntary_ctxt_switches:");
    return 0;
  }
  [[nodiscard]] std::uint64_t reads() const {
    return number_in(fmt::format("/proc/{}/io", daemon_->pid()), "syscr:");
  }
};

TEST_P(LiveFlood, OfNamesDelaysNobodyAndIsBounded) {
  constexpr std::uint64_t kRenames = 20'000;
  start_daemon();
  const auto noisy = start("pod1", "50");
  EXPECT_EQ(settle(*noisy), "");
  const int vmm = noisy->truth().vmm;
  const auto pass = [&](std::uint64_t count) {
    const auto until = renames(vmm) + count;
    return wait_until([&] { return renames(vmm) >= until; });
  };
  ASSERT_TRUE(pass(kRenames)) << "the burst that everybody may have";
  const auto reads_before = reads();
  const auto renames_before = renames(vmm);
  const auto cpu_before = cpu_time(daemon_->pid());
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(pass(kRenames));
  const auto seconds = std::chrono::steady_clock::now() - begin;
  const auto cpu = cpu_time(daemon_->pid()) - cpu_before;
  const auto read = reads() - reads_before;
  std::printf("%lu renames, %lu reads, %.1f %% of a CPU\n", renames(vmm) - renames_before, read,
              100.0 * static_cast<double>(cpu.count()) / static_cast<double>(seconds.count()));
  EXPECT_LT(read, kRenames) << "less than one read for each name";
  const auto other = start("pod2", "");
  EXPECT_EQ(settle(*other), "");
  EXPECT_EQ(daemon_->standing_complaints(), "");
  noisy->end();
  other->end();
}

/// Names a thread of its own until a listener that does not read has lost some of that.
void overflow_listeners() {
  auto connector = ProcConnector::open();
  ASSERT_TRUE(connector) << connector.error().text;
  std::string own(16, '\0');
  ASSERT_EQ(::prctl(PR_GET_NAME, own.data()), 0);
  for (bool lost = false; !lost;) {
    for (int i = 0; i < 60'000; ++i) (void)::prctl(PR_SET_NAME, own.data());
    const auto batch = connector->read();
    ASSERT_TRUE(batch) << batch.error().text;
    lost = batch->lost;
  }
}

TEST_P(LiveFlood, WhatWasLostMeanwhileIsFound) {
  start_daemon();
  const auto sandbox = placed({.names = true, .standin = {{"MAX_VCPUS", "3"}}});
  let_it_run();
  ASSERT_EQ(::kill(daemon_->pid(), SIGSTOP), 0);
  overflow_listeners();
  sandbox->ask("hotplug");
  ASSERT_EQ(::kill(daemon_->pid(), SIGCONT), 0);
  EXPECT_EQ(settle(*sandbox), "");
  EXPECT_EQ(sandbox->truth().vcpus.size(), 2U);
}

KCG_ON_BOTH_TREES(LiveFlood);

}  // namespace
}  // namespace kcg::live
