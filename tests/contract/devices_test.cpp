// SPDX-License-Identifier: Apache-2.0
//
// Device programs on cgroup v2: what is attached where, and what the kernel refuses.
#include "contract/fixture.hpp"

namespace kcg::test {

namespace {

constexpr std::uint32_t kAlone = 0, kOverride = 1;

class Devices : public Contract {
 protected:
  [[nodiscard]] GroupRef group(const std::string& name) { return at("v2", name); }
  [[nodiscard]] int attach(const std::string& name, std::uint32_t program, std::uint32_t flags) {
    return code(tree().change_devices(group(name), {program, flags, true}));
  }
  [[nodiscard]] int detach(const std::string& name, std::uint32_t program) {
    return code(tree().change_devices(group(name), {program, 0, false}));
  }
  [[nodiscard]] DevicePolicy at_group(const std::string& name) {
    return tree().devices(group(name)).value();
  }
};

TEST_P(Devices, ANewGroupHasNone) {
  make(group("a"));
  EXPECT_EQ(at_group("a"), DevicePolicy{});
  EXPECT_EQ(code(tree().devices(group("b"))), ENOENT);
}

TEST_P(Devices, SeveralStandSideBySide) {
  make(group("a"));
  const auto one = world_->load_device_program();
  const auto two = world_->load_device_program();
  EXPECT_EQ(attach("a", two, kSeveralPrograms), 0);
  EXPECT_EQ(attach("a", one, kSeveralPrograms), 0);
  EXPECT_EQ(at_group("a"), (DevicePolicy{kSeveralPrograms, {one, two}, ""}));
  EXPECT_EQ(attach("a", one, kSeveralPrograms), EINVAL) << "it is there already";
  EXPECT_EQ(attach("a", one, kOverride), EPERM) << "other flags than those in force";
  EXPECT_EQ(detach("a", one), 0);
  EXPECT_EQ(detach("a", one), ENOENT);
  EXPECT_EQ(at_group("a"), (DevicePolicy{kSeveralPrograms, {two}, ""}));
  EXPECT_EQ(detach("a", two), 0);
  EXPECT_EQ(at_group("a"), DevicePolicy{});
}

TEST_P(Devices, WhereOnlyOneMayStandTheNextTakesItsPlace) {
  make(group("a"));
  const auto one = world_->load_device_program();
  const auto two = world_->load_device_program();
  for (const auto flags : {kAlone, kOverride}) {
    EXPECT_EQ(attach("a", one, flags), 0);
    EXPECT_EQ(attach("a", two, flags), 0);
    EXPECT_EQ(at_group("a"), (DevicePolicy{flags, {two}, ""}));
    EXPECT_EQ(detach("a", two), 0);
  }
}

TEST_P(Devices, AGroupAboveDecidesWhatMayStandBelow) {
  const auto program = world_->load_device_program();
  const auto other = world_->load_device_program();
  make(group("a"));
  make(group("a/b"));
  for (const auto& [flags, expected] :
       {std::pair{kAlone, EPERM}, std::pair{kOverride, 0}, std::pair{kSeveralPrograms, 0}}) {
    EXPECT_EQ(attach("a", program, flags), 0);
    EXPECT_EQ(at_group("a/b"), DevicePolicy{}) << "what stands above is not listed";
    EXPECT_EQ(attach("a/b", other, kSeveralPrograms), expected) << flags;
    EXPECT_EQ(detach("a/b", other), expected == 0 ? 0 : ENOENT);
    EXPECT_EQ(detach("a", program), 0);
  }
}

TEST_P(Devices, UnknownPrograms) {
  make(group("a"));
  EXPECT_EQ(attach("a", 4'000'000'000U, kSeveralPrograms), ENOENT);
}

INSTANTIATE_TEST_SUITE_P(Worlds, Devices, ::testing::ValuesIn(worlds(true)), kind_name);

}  // namespace
}  // namespace kcg::test
