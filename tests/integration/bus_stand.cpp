// SPDX-License-Identifier: Apache-2.0
#include "integration/bus_stand.hpp"

namespace kcg::integration {

namespace {

std::vector<std::string> joined(std::vector<std::string> head, std::vector<std::string> tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

}  // namespace

std::string first_object() {
  // sd_bus_path_encode escapes a leading digit.
  return std::string(kRoot) + "/sandbox/_30" + std::string(samples::kFirstId).substr(1);
}

void BusStand::serve() {
  daemon_ = std::make_unique<Server>(std::vector<std::string>{KCG_FAKE_DAEMON, bus_.address()});
  ASSERT_TRUE(daemon_->expect("ready"));
}

void BusStand::command(const std::string& line) {
  daemon_->say(line);
  ASSERT_TRUE(daemon_->expect("done " + line.substr(0, line.find(' ')))) << line;
}

Ended BusStand::busctl(std::vector<std::string> arguments, std::optional<uid_t> uid) const {
  return run(joined({"busctl", "--address=" + bus_.address()}, std::move(arguments)), uid);
}

Ended BusStand::call(std::vector<std::string> member_and_arguments,
                     std::optional<uid_t> uid) const {
  return busctl(joined({"call", kService, kRoot, kManager}, std::move(member_and_arguments)), uid);
}

Ended BusStand::cgctl(std::vector<std::string> arguments, std::optional<uid_t> uid) const {
  return run(joined({KCG_CGCTL, "--bus", bus_.address()}, std::move(arguments)), uid);
}

std::string BusStand::printed(const std::string& document) {
  return run({KCG_PRINT_DOCUMENTS, document}).out;
}

}  // namespace kcg::integration
