// SPDX-License-Identifier: Apache-2.0
#include "integration/private_bus.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace kcg::integration {

namespace {

/// What Debian's system.conf says, as far as it matters here.
constexpr const char* kSystemRules = R"(
  <policy context="default">
    <allow user="*"/>
    <deny own="*"/>
    <deny send_type="method_call"/>
    <allow send_type="signal"/>
    <allow send_requested_reply="true" send_type="method_return"/>
    <allow send_requested_reply="true" send_type="error"/>
    <allow receive_type="method_call"/>
    <allow receive_type="method_return"/>
    <allow receive_type="error"/>
    <allow receive_type="signal"/>
    <allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus"/>
    <allow send_destination="org.freedesktop.DBus"
           send_interface="org.freedesktop.DBus.Introspectable"/>
    <allow send_destination="org.freedesktop.DBus"
           send_interface="org.freedesktop.DBus.Properties"/>
  </policy>
  <policy user="root">
    <allow send_destination="org.freedesktop.DBus"
           send_interface="org.freedesktop.DBus.Monitoring"/>
  </policy>
)";

constexpr const char* kOpenRules = R"(
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
  </policy>
)";

std::string configuration(Policy policy, const std::string& directory) {
  const bool installed = policy == Policy::installed;
  return R"(<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <auth>EXTERNAL</auth>
  <listen>unix:path=)" +
         directory + "/bus</listen>" + (installed ? kSystemRules : kOpenRules) +
         (installed ? "<include>" KCG_BUS_POLICY "</include>\n" : "") + "</busconfig>\n";
}

}  // namespace

PrivateBus::PrivateBus(Policy policy) {
  std::string name = std::filesystem::temp_directory_path() / "kcg-bus-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
  directory_ = name;
  chmod(directory_.c_str(), 0755);  // other users are to connect
  std::ofstream(directory_ + "/bus.conf") << configuration(policy, directory_);
  start();
}

PrivateBus::~PrivateBus() {
  daemon_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

void PrivateBus::start() {
  std::filesystem::remove(directory_ + "/bus");
  // What it refuses it tells on stderr; refusing is part of the tests.
  const auto command =
      "exec dbus-daemon --nofork --nopidfile --print-address --config-file=" + directory_ +
      "/bus.conf 2>" + directory_ + "/log";
  daemon_ = std::make_unique<Server>(std::vector<std::string>{"sh", "-c", command});
  // The address is printed when the socket listens.
  if (!daemon_->expect("unix:path=")) throw std::runtime_error("dbus-daemon does not start");
}

void PrivateBus::kill() { daemon_.reset(); }

}  // namespace kcg::integration
