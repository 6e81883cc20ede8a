// SPDX-License-Identifier: Apache-2.0
//
// Callers that ask all the time: sandboxes do not wait for them. Compared within one run, since
// machines differ.
#include <cstdio>

#include "integration/bus_stand.hpp"
#include "integration/flood.hpp"

namespace kcg::integration {
namespace {

constexpr const char* kObjects = "org.freedesktop.DBus.ObjectManager";

/// Value: what stood between two passes of a quarter of a second, in microseconds of CPU time.
struct Between {
  double count = 0;
  double mean = 0;
  double longest = 0;
};

/// What one look at a sandbox takes in the fake daemon.
constexpr double kLook = 1000;

class BusFlood : public BusStand {
 protected:
  [[nodiscard]] Between passes() {
    daemon_->say("pulse 250");
    const auto said = daemon_->expect("done pulse ");
    Between between;
    if (said)
      (void)std::sscanf(said->c_str(), "done pulse %lf %lf %lf", &between.count, &between.mean,
                        &between.longest);
    return between;
  }
};

TEST_F(BusFlood, SandboxesDoNotWaitForCallers) {
  const struct {
    const char* name;
    Question question;
    std::size_t outstanding;
  } rows[] = {
      {"two plans of all", {kManager, "Plan", ""}, 2},
      {"a list", {kManager, "ListSandboxes", "-"}, 4},
      {"all objects", {kObjects, "GetManagedObjects", "-"}, 4},
      {"single ones", {kManager, "GetSandbox", samples::kFirstId}, 32},
      {"properties", {"org.freedesktop.DBus.Properties", "GetAll", kManager}, 32},
  };
  command("many 200");
  const auto quiet = passes();
  std::printf("%-16s %.0f passes, between two: %.0f us, at most %.0f us\n", "quiet", quiet.count,
              quiet.mean, quiet.longest);
  for (const auto& row : rows) {
    for (const std::size_t connections : {1U, 4U, 8U}) {
      const Flood flood(bus_.address(), row.question, connections, row.outstanding);
      (void)passes();  // until it flows
      const auto beside = passes();
      std::printf(
          "%-16s %zu connections: %.0f passes, between two: %.0f us, at most %.0f us; "
          "answered %zu\n",
          row.name, connections, beside.count, beside.mean, beside.longest, flood.answered());
      // A slice of two milliseconds, one look more, and one message.
      EXPECT_LT(beside.mean, 6 * kLook) << row.name << ' ' << connections;
      EXPECT_EQ(flood.refused(), 0U) << row.name << ' ' << connections;
    }
  }
}

TEST_F(BusFlood, WhoWaitsForTooMuchIsRefusedAndOthersAreServed) {
  command("many 200");
  const Flood flood(bus_.address(), {kManager, "Plan", ""}, 1, 64);
  // A busy machine lets the client take its time.
  for (int i = 0; i < 20 && flood.refused() == 0; ++i) (void)passes();
  EXPECT_GT(flood.refused(), 0U);
  EXPECT_EQ(cgctl({"list"}).status, 0) << "another caller has his own turn";
  const auto told = call({"ListSandboxes"});
  EXPECT_EQ(told.status, 0) << told.err;
}

}  // namespace
}  // namespace kcg::integration
