// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "daemon/systemd/scopes.hpp"
#include "integration/private_bus.hpp"
#include "integration/stub_systemd.hpp"
#include "proc/kernel_proc.hpp"
#include "systemd_scopes_fixture.hpp"

namespace kcg::integration {
namespace {

class LeftOver : public SystemdScopesTest {
 protected:
  void meet(StubUnit unit) {
    greet();
    stub_->set_unit(kUnit, std::move(unit));
    ask();
    stub_->refuse("org.freedesktop.systemd1.UnitExists", "Unit was already loaded");
  }
  static constexpr const char* kOurs = systemd::kDescription;
};

TEST_F(LeftOver, FailedAndOurs) {
  meet({kOurs, "failed"});
  ASSERT_TRUE(until([&] { return stub_->count("ResetFailedUnit 'kata-sandbox-s.scope'") == 1; }));
  stub_->answer();
  ASSERT_TRUE(until([&] { return stub_->count("StartTransientUnit") == 2; }));
  stub_->answer_job("8");
  stub_->job_removed("8", kUnit, "done");
  ASSERT_TRUE(told());
  EXPECT_EQ(hints_, std::vector{job_hint()});
}

TEST_F(LeftOver, FailedAndStaysSo) {
  meet({kOurs, "failed"});
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(until([&] { return stub_->waiting() == 1; }));
    stub_->answer();  // ResetFailedUnit
    ASSERT_TRUE(until([&] { return stub_->waiting() == 1; }));
    stub_->refuse("org.freedesktop.systemd1.UnitExists", "Unit was already loaded");
  }
  ASSERT_TRUE(until([&] { return stub_->waiting() == 1; }));
  stub_->answer();
  ASSERT_TRUE(told()) << "not for ever";
  EXPECT_EQ(stub_->count("StartTransientUnit"), 3U);
  EXPECT_EQ(hints_.at(0).problem, "the unit has failed and stays so");
}

TEST_F(LeftOver, ActiveAndOursIsTheScope) {
  meet({kOurs, "active"});
  ASSERT_TRUE(told());
  EXPECT_EQ(hints_, std::vector{job_hint()}) << "the next pass sees who is in it";
  EXPECT_EQ(stub_->count("StartTransientUnit"), 1U);
}

TEST_F(LeftOver, StillBeingMade) {
  meet({kOurs, "inactive", true, StubSystemd::job_path("9")});
  ASSERT_TRUE(until([&] { return stub_->count("GetAll") == 1; }));
  stub_->job_removed("9", kUnit, "done");
  ASSERT_TRUE(told());
  EXPECT_EQ(hints_, std::vector{job_hint()});
}

TEST_F(LeftOver, OnItsWayOut) {
  meet({kOurs, "deactivating"});
  ASSERT_TRUE(told());
  EXPECT_EQ(hints_.at(0).problem, "the unit is deactivating");
}

TEST_F(LeftOver, GoneMeanwhile) {
  meet({"x", "inactive", false});
  ASSERT_TRUE(until([&] { return stub_->count("StartTransientUnit") == 2; }));
  stub_->answer_job("8");
  stub_->job_removed("8", kUnit, "done");
  ASSERT_TRUE(told());
  EXPECT_EQ(hints_, std::vector{job_hint()});
}

TEST_F(LeftOver, AUnitFile) {
  meet({"x", "inactive", false});
  for (unsigned i = 2; i <= 3; ++i) {
    ASSERT_TRUE(until([&] { return stub_->count("StartTransientUnit") == i; }));
    stub_->refuse("org.freedesktop.systemd1.UnitExists", "Unit has a fragment file");
  }
  ASSERT_TRUE(told()) << "not for ever";
  EXPECT_EQ(hints_.at(0).problem, "systemd has the unit and does not start it");
}

TEST_F(LeftOver, SomebodyElsesIsNotTouched) {
  for (const StubUnit& unit : {StubUnit{"a backup", "failed"}, StubUnit{"a backup", "active"},
                               StubUnit{kOurs, "failed", false}}) {
    hints_.clear();
    meet(unit);
    ASSERT_TRUE(told());
    EXPECT_NE(hints_.at(0).problem.find("not ours"), std::string::npos) << hints_.at(0).problem;
    EXPECT_EQ(stub_->count("ResetFailedUnit"), 0U);
    EXPECT_EQ(stub_->count("StartTransientUnit"), 1U);
    scopes_.reset();
    stub_.reset();
  }
}

}  // namespace
}  // namespace kcg::integration
