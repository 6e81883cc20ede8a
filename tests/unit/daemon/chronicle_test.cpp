// SPDX-License-Identifier: Apache-2.0
//
// What is remembered of sandboxes, over their ends and over restarts of the daemon.
#include "daemon/node/chronicle.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>

#include "model/ticks.hpp"
#include "observe/history_files.hpp"
#include "show/history_documents.hpp"
#include "unit/daemon/reconciling.hpp"

namespace kcg::test {
namespace {

using std::chrono::hours;

class Chronicles : public Reconciling {
 protected:
  [[nodiscard]] std::filesystem::path file_of(const std::string& id) {
    return directory() + "/" + history_file(id);
  }
  SandboxHistory history_of(const std::string& id) {
    const auto document = reconciler_->api().events_json(id);
    return document ? parse_history_document(*document).value().front() : SandboxHistory{};
  }
  static std::vector<EventKind> kinds(const SandboxHistory& history) {
    std::vector<EventKind> kinds;
    for (const auto& event : history.events) kinds.push_back(event.kind);
    return kinds;
  }
  void register_pod(const std::string& id) {
    auto one = registration();
    one.pod = {"shop", "cart", "uid"};
    ASSERT_TRUE(reconciler_->api().register_sandbox(id, one));
    run();
  }
  void end(const std::string& id) {
    ASSERT_TRUE(reconciler_->api().unregister_sandbox(id));
    run();
  }
  void stop() { reconciler_.reset(); }
};

TEST_F(Chronicles, OneThatHasEndedIsStillKnown) {
  start();
  run();
  register_pod("sandbox1");
  EXPECT_EQ(history_of("sandbox1").pod_name, "cart");
  EXPECT_EQ(history_of("sandbox1").ended, 0);
  end("sandbox1");
  EXPECT_TRUE(reconciler_->api().list(false).empty());
  const auto history = history_of("sand");
  EXPECT_EQ(history.id, "sandbox1") << "by the beginning of its id";
  EXPECT_NE(history.ended, 0);
  EXPECT_EQ(kinds(history), std::vector{EventKind::ended});
  EXPECT_EQ(reconciler_->api().remembered(), std::vector<std::string>{"sandbox1"});
}

TEST_F(Chronicles, EachEventIsToldWhenItHappens) {
  start();
  run();
  register_pod("sandbox1");
  EXPECT_TRUE(listener_.happenings.empty()) << "that it was found is told in another way";
  end("sandbox1");
  EXPECT_EQ(listener_.happenings, std::vector<std::string>{"ended sandbox1"});
}

/// A step that fails may have done its work: then the look that finds all in place has none left.
TEST_F(Chronicles, ThatAllIsInPlaceIsToldAlsoByALookWithNothingToDo) {
  const auto vmm = found_vmm();
  bool failed = false;
  tree_.on_operation([&](const FakeWrite& step) {
    if (failed || step.file != "cgroup.procs") return 0;
    failed = true;
    tree_.outside(
        [&](CgroupTree& tree) { EXPECT_TRUE(tree.write(step.group, step.file, step.text)); });
    return EIO;
  });
  place(vmm);
  ASSERT_TRUE(failed);
  EXPECT_EQ(kinds(history_of("x")), std::vector{EventKind::placed});
}

/// A VMM of the future stays young for as long as the test takes.
TEST_F(Chronicles, ThatAllIsInPlaceIsToldWhenTheVcpusRun) {
  const auto later = static_cast<std::uint64_t>((clock_.now() + hours(1)).count()) / kUsecPerTick;
  const auto vmm = found_vmm();
  proc_.process(vmm).key.start = proc_.thread(vmm).key.start = later;
  place(vmm);
  run();
  EXPECT_EQ(kinds(history_of("x")), std::vector<EventKind>{}) << "its vCPUs come in a moment";
  const Pid vcpu = proc_.add_thread(vmm, "CPU 0/KVM");
  proc_.thread(vcpu).key.start = later;
  reconciler_->hint({HintKind::thread, "", vmm});
  run();
  const auto events = history_of("x").events;
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, EventKind::placed);
  EXPECT_EQ(events[0].text, "2 threads, 0.0 ms after the last vCPU");
}

TEST_F(Chronicles, NobodyKnowsWhoNeverWas) {
  start();
  run();
  EXPECT_FALSE(reconciler_->api().events_json("nobody"));
  EXPECT_FALSE(reconciler_->api().events_json(""));
}

TEST_F(Chronicles, ARestartForgetsNothing) {
  start();
  run();
  register_pod("lives");
  register_pod("ends");
  end("ends");
  const auto ended = history_of("ends");
  stop();
  EXPECT_TRUE(std::filesystem::exists(file_of("ends"))) << "it does not wait for a pause then";
  (void)store_.registrations();
  start();
  run();
  EXPECT_EQ(history_of("ends"), ended);
  EXPECT_EQ(history_of("lives").ended, 0);
  EXPECT_TRUE(history_of("lives").events.empty()) << "that it was found again is no event";
}

TEST_F(Chronicles, WhoIsGoneAfterARestartHasEnded) {
  start();
  run();
  register_pod("sandbox1");
  stop();
  ASSERT_TRUE(store_.remove(SandboxId::parse("sandbox1").value()));
  start();
  run();
  EXPECT_NE(history_of("sandbox1").ended, 0);
  EXPECT_EQ(kinds(history_of("sandbox1")), std::vector{EventKind::ended});
}

TEST_F(Chronicles, WhatIsNoHistoryIsSetAsideAndStopsNobody) {
  std::ofstream(file_of("bad1")) << "{";
  std::filesystem::create_directory(file_of("bad2"));
  start();
  run();
  EXPECT_TRUE(reconciler_->api().remembered().empty());
  EXPECT_FALSE(std::filesystem::exists(file_of("bad1")));
  EXPECT_TRUE(std::filesystem::exists(file_of("bad1").string() + ".unknown"));
  EXPECT_FALSE(std::filesystem::exists(file_of("bad2")));
  register_pod("sandbox1");
  EXPECT_EQ(history_of("sandbox1").id, "sandbox1");
}

TEST_F(Chronicles, ThatNothingCanBeWrittenStopsNobody) {
  start();
  run();
  std::filesystem::remove_all(directory());
  auto one = registration();
  EXPECT_FALSE(reconciler_->api().register_sandbox("sandbox1", one)) << "that must be kept";
  stop();
}

}  // namespace
}  // namespace kcg::test
