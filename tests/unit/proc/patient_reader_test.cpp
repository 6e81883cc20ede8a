// SPDX-License-Identifier: Apache-2.0
//
// A pipe that nobody has written to hangs like a command line whose process does not answer.
#include "proc/patient_reader.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace kcg::test {
namespace {

using std::chrono::milliseconds;

/// Nobody waits long here for what hangs; whoever answers has all the time that he needs.
constexpr milliseconds kShort{1};
constexpr milliseconds kLong{30'000};

class PatientReaderTest : public ::testing::Test {
 protected:
  /// A pipe per task; its other end.
  Fd& pipe(Pid pid) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    sources_[pid] = Fd(ends[0]);
    return writers_[pid] = Fd(ends[1]);
  }
  [[nodiscard]] Result<std::string> read(PatientReader& reader, Pid pid) {
    return reader.read({pid, 1}, [&]() -> Result<Fd> {
      ++opened_;
      return std::move(sources_[pid]);
    });
  }
  /// Until what was asked for is there.
  [[nodiscard]] Result<std::string> read_at_last(PatientReader& reader, Pid pid) {
    auto text = read(reader, pid);
    (void)at_last([&] {  // ignored: the text tells
      if (!text && text.error().code == EAGAIN) text = read(reader, pid);
      return text || text.error().code != EAGAIN;
    });
    return text;
  }
  [[nodiscard]] static bool at_last(const std::function<bool()>& is_so) {
    const auto until = std::chrono::steady_clock::now() + kLong;
    bool so = is_so();
    while (!so && std::chrono::steady_clock::now() < until) so = is_so();
    return so;
  }
  [[nodiscard]] static std::set<Pid> threads() {
    std::set<Pid> found;
    for (const auto& one : std::filesystem::directory_iterator("/proc/self/task"))
      found.insert(std::stoi(one.path().filename()));
    return found;
  }
  /// Where the thread may run. 0: this one.
  [[nodiscard]] static cpu_set_t cpus_of(Pid thread) {
    cpu_set_t cpus;
    EXPECT_EQ(::sched_getaffinity(thread, sizeof(cpus), &cpus), 0);
    return cpus;
  }
  [[nodiscard]] static cpu_set_t last_of(const cpu_set_t& all) {
    std::size_t last = CPU_SETSIZE - 1;
    while (!CPU_ISSET(last, &all)) --last;
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(last, &cpus);
    return cpus;
  }
  static void say(const Fd& writer, const std::string& text) {
    EXPECT_EQ(::write(writer.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  std::map<Pid, Fd> sources_, writers_;
  unsigned opened_ = 0;
  Pid asked_ = 0;
};

TEST_F(PatientReaderTest, AnswersAtOnceWhereNothingHangs) {
  PatientReader reader({1, kLong, 100});
  for (const Pid pid : {1, 2, 3}) {
    say(pipe(pid), "text");
    writers_[pid] = Fd();
    EXPECT_EQ(read(reader, pid).value(), "text");
  }
  EXPECT_EQ(opened_, 3U);
}

TEST_F(PatientReaderTest, WhatHangsIsReadOnceAndAnsweredLater) {
  PatientReader reader({2, kShort, 100});
  (void)pipe(1);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(read(reader, 1).error().code, EAGAIN);
  EXPECT_EQ(opened_, 1U);
  say(writers_[1], "at last");
  writers_[1] = Fd();
  EXPECT_EQ(read_at_last(reader, 1).value(), "at last");
  EXPECT_EQ(opened_, 1U);
}

TEST_F(PatientReaderTest, OthersGoOnUpToTheBound) {
  PatientReader reader({3, kShort, 100});
  for (const Pid pid : {1, 2}) {
    (void)pipe(pid);
    EXPECT_EQ(read(reader, pid).error().code, EAGAIN);
  }
  say(pipe(3), "x");
  writers_[3] = Fd();
  EXPECT_EQ(read_at_last(reader, 3).value(), "x");
  (void)pipe(4);
  EXPECT_EQ(reader.hanging(), 2U);
  EXPECT_EQ(read(reader, 4).error().code, EAGAIN);
  const auto before = opened_;
  (void)pipe(5);
  const auto refused = read(reader, 5);
  EXPECT_EQ(refused.error().code, EBUSY);
  EXPECT_NE(refused.error().text.find("hang already"), std::string::npos) << refused.error().text;
  EXPECT_EQ(opened_, before) << "not even opened";
  writers_[1] = Fd();
  EXPECT_EQ(read_at_last(reader, 1).value(), "");
  writers_[5] = Fd();
  EXPECT_EQ(read_at_last(reader, 5).value(), "") << "a thread is free again";
}

TEST_F(PatientReaderTest, WhatIsForgottenIsAskedForAnew) {
  PatientReader reader({2, kShort, 100});
  (void)pipe(1);
  EXPECT_EQ(read(reader, 1).error().code, EAGAIN);
  const Fd old = std::move(writers_[1]);
  reader.forget(1);
  say(pipe(1), "new program");
  writers_[1] = Fd();
  EXPECT_EQ(read_at_last(reader, 1).value(), "new program");
  reader.forget_if([](const TaskKey&) { return true; });
}

TEST_F(PatientReaderTest, OnlyTheBeginningIsRead) {
  PatientReader reader({1, kLong, 10});
  say(pipe(1), "0123456789abc");
  EXPECT_EQ(read(reader, 1).value(), "0123456789");
}

/// On another CPU it would have to wait for its turn beside whatever keeps that one busy.
TEST_F(PatientReaderTest, AfterALateAnswerTheNextIsReadWhereItIsAskedForAWhile) {
  PatientReader reader({1, kShort, 10, milliseconds(100)});
  const auto before = threads();
  const auto ask = [&](bool late) {
    const Pid pid = ++asked_;
    (void)pipe(pid);
    if (!late) writers_[pid] = Fd();
    const auto at_once = read(reader, pid);  // late too where the machine is busy
    writers_[pid] = Fd();
    if (!at_once) (void)read_at_last(reader, pid);  // ignored: only the wait counts
  };
  ask(true);
  auto born = threads();
  for (const Pid known : before) born.erase(known);
  ASSERT_EQ(born.size(), 1U);
  const Pid thread = *born.begin();
  const auto all = cpus_of(0), here = last_of(all);
  const auto runs_on = [thread](const cpu_set_t& cpus) {
    const auto now = cpus_of(thread);
    return CPU_EQUAL(&now, &cpus) != 0;
  };
  EXPECT_TRUE(runs_on(all));
  ASSERT_EQ(::sched_setaffinity(0, sizeof(here), &here), 0);
  EXPECT_TRUE(at_last([&] {
    ask(true);
    ask(false);
    return runs_on(here);
  }));
  ASSERT_EQ(::sched_setaffinity(0, sizeof(all), &all), 0);
  EXPECT_TRUE(at_last([&] {
    ask(false);
    return runs_on(all);
  }));
}

TEST_F(PatientReaderTest, AFileThatCannotBeOpenedOrReadSaysSo) {
  PatientReader reader({1, kLong, 10});
  EXPECT_EQ(reader.read({1, 1}, []() -> Result<Fd> { return fail(EMFILE, "no"); }).error().code,
            EMFILE);
  EXPECT_EQ(
      reader.read({1, 1}, []() -> Result<Fd> { return Fd(::open("/", O_RDONLY)); }).error().code,
      EISDIR);
}

}  // namespace
}  // namespace kcg::test
