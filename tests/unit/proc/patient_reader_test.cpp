// SPDX-License-Identifier: Apache-2.0
//
// A pipe that nobody has written to hangs like a command line whose process does not answer.
#include "proc/patient_reader.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
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
    const auto until = std::chrono::steady_clock::now() + kLong;
    auto text = read(reader, pid);
    while (!text && text.error().code == EAGAIN && std::chrono::steady_clock::now() < until)
      text = read(reader, pid);
    return text;
  }
  static void say(const Fd& writer, const std::string& text) {
    EXPECT_EQ(::write(writer.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  std::map<Pid, Fd> sources_, writers_;
  unsigned opened_ = 0;
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
