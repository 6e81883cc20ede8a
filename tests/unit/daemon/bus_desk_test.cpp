// SPDX-License-Identifier: Apache-2.0
//
// Who waits for how much, and in which order the callers are served.
#include "daemon/bus/desk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace kcg::bus {
namespace {

/// A manager that only keeps the jobs that it is given.
class Jobs final : public Manager {
 public:
  [[nodiscard]] DaemonInfo daemon_info() const override { return {}; }
  [[nodiscard]] std::vector<std::string> problems() const override { return {}; }
  [[nodiscard]] std::map<std::string, std::string> parts() const override { return {}; }
  [[nodiscard]] LatencyFacts placement_times() const override { return {}; }
  [[nodiscard]] std::map<std::string, std::uint64_t> conditions_raised() const override {
    return {};
  }
  [[nodiscard]] std::vector<SandboxView> list(bool) const override { return {}; }
  [[nodiscard]] std::vector<RegisteredView> registered() const override { return {}; }
  [[nodiscard]] std::optional<std::uint64_t> memory_used(const std::string&) const override {
    return std::nullopt;
  }
  [[nodiscard]] Measured measured(const std::string&) const override { return {}; }
  [[nodiscard]] std::optional<SandboxUsage> usage(const std::string&) override { return {}; }
  [[nodiscard]] Result<SandboxView> view(const std::string&) override { return none(); }
  [[nodiscard]] Result<std::string> resolve(const std::string&) const override { return none(); }
  [[nodiscard]] Result<std::string> plan_json(const std::string&) override { return none(); }
  [[nodiscard]] Result<std::string> explain_json(const std::string&) override { return none(); }
  [[nodiscard]] Result<std::string> events_json(const std::string&) override { return none(); }
  [[nodiscard]] Result<std::string> recommend_json(const std::string&) override { return none(); }
  [[nodiscard]] std::vector<std::string> remembered() const override { return {}; }
  void reconcile(const std::string&, bool, std::function<void(Result<std::uint32_t>)>) override {}
  [[nodiscard]] Status register_sandbox(const std::string&, const Registration&) override {
    return none();
  }
  [[nodiscard]] Status unregister_sandbox(const std::string&) override { return none(); }
  [[nodiscard]] Status reload() override { return {}; }
  [[nodiscard]] LogLevel log_level() const override { return LogLevel::info; }
  void set_log_level(LogLevel) override {}
  [[nodiscard]] Status in_background(std::function<bool()> slice) override {
    jobs.push_back(std::move(slice));
    return {};
  }

  std::vector<std::function<bool()>> jobs;

 private:
  static tl::unexpected<Error> none() { return fail(0, "none"); }
};

class DeskTest : public testing::Test {
 protected:
  /// An errand of so many steps that notes its name at its end.
  void ask(const std::string& caller, const std::string& name, int steps = 1) {
    auto ticket = callers_->enter(caller);
    ASSERT_TRUE(ticket);
    ASSERT_TRUE(desk_->take(caller, *ticket, [this, name, steps]() mutable {
      if (--steps > 0) return true;
      done_.push_back(name);
      return false;
    }));
  }
  void work() {
    for (auto& job : manager_.jobs)
      while (job()) continue;
    manager_.jobs.clear();
  }

  Jobs manager_;
  std::shared_ptr<Callers> callers_ = std::make_shared<Callers>();
  std::shared_ptr<Desk> desk_ = std::make_shared<Desk>(manager_);
  std::vector<std::string> done_;
};

TEST_F(DeskTest, CallersTakeTurns) {
  for (const auto* name : {"a1", "a2", "a3"}) ask(":1.1", name, 3);
  ask(":1.2", "b1");
  ask(":1.3", "c1");
  work();
  EXPECT_THAT(done_, testing::ElementsAre("a1", "b1", "c1", "a2", "a3"));
  EXPECT_EQ(callers_->waiting(), 0U);
}

TEST_F(DeskTest, OneJobOfTheManagersIsEnough) {
  ask(":1.1", "a1");
  ask(":1.2", "b1");
  EXPECT_EQ(manager_.jobs.size(), 1U);
  work();
  ask(":1.1", "a2");
  EXPECT_EQ(manager_.jobs.size(), 1U) << "the first one has ended";
}

TEST_F(DeskTest, WhoLeavesIsNotWorkedFor) {
  ask(":1.1", "a1", 1'000'000'000);
  ask(":1.2", "b1");
  EXPECT_TRUE(manager_.jobs.front()()) << "a1 is in hand";
  ask(":1.1", "a2");
  desk_->gone(":1.1");
  desk_->gone(":1.9");
  EXPECT_EQ(callers_->waiting(), 1U);
  work();
  EXPECT_THAT(done_, testing::ElementsAre("b1"));
}

TEST_F(DeskTest, ADeskThatIsGoneEndsItsJob) {
  ask(":1.1", "a1");
  desk_.reset();
  EXPECT_FALSE(manager_.jobs.front()());
  EXPECT_TRUE(done_.empty());
}

TEST(Callers, EachMayWaitForSoMuch) {
  const auto callers = std::make_shared<Callers>();
  std::vector<Callers::Ticket> tickets;
  for (std::size_t i = 0; i < Callers::kEach; ++i) tickets.push_back(*callers->enter(":1.1"));
  const auto refused = callers->enter(":1.1");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, static_cast<int>(ManagerError::limit_reached));
  EXPECT_TRUE(callers->enter(":1.2")) << "another one";
  tickets.pop_back();
  EXPECT_TRUE(callers->enter(":1.1"));
}

TEST(Callers, AllTogetherMayWaitForSoMuch) {
  const auto callers = std::make_shared<Callers>();
  std::vector<Callers::Ticket> tickets;
  for (std::size_t i = 0; i < Callers::kAll; ++i)
    tickets.push_back(*callers->enter(std::to_string(i)));
  EXPECT_FALSE(callers->enter("another"));
  tickets.clear();
  EXPECT_EQ(callers->waiting(), 0U);
  EXPECT_TRUE(callers->enter("another"));
}

}  // namespace
}  // namespace kcg::bus
