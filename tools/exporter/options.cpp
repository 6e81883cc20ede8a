// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/options.hpp"

#include <CLI/CLI.hpp>
#include <sstream>

#include "base/version.hpp"

namespace kcg::exporter {

namespace {

constexpr int kUsage = 2;

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  CommandLine line;
  CLI::App app("Serves to Prometheus what kata-cgroupd knows of its sandboxes.",
               "kata-cgroup-exporter");
  app.set_version_flag("--version", std::string("kata-cgroup-exporter ") + version(),
                       "Print the version");
  app.add_option("--listen", line.options.listen,
                 "Where /metrics is served; without a host, on all addresses of the node")
      ->type_name("[HOST:]PORT")
      ->capture_default_str();
  app.add_option("--bus", line.options.bus,
                 "Where the daemon serves D-Bus: system (default) or an address")
      ->type_name("ADDRESS");
  app.footer("Exit status: 0 good, 1 failed, 2 usage. See kata-cgroup-exporter(8).");
  // CLI11 speaks by exceptions; they end here.
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {
    std::ostringstream out, err;
    line.exit = app.exit(done, out, err);
    line.out = out.str();
  } catch (const CLI::ParseError& error) {
    line.exit = kUsage;
    line.err = std::string("kata-cgroup-exporter: ") + error.what() +
               "\nTry 'kata-cgroup-exporter --help'.\n";
  }
  return line;
}

}  // namespace kcg::exporter
