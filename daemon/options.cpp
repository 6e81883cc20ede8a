// SPDX-License-Identifier: Apache-2.0
#include "daemon/options.hpp"

#include <CLI/CLI.hpp>
#include <map>

#include "base/text.hpp"
#include "base/version.hpp"
#include "cgroup/host.hpp"
#include "observe/config_files.hpp"

namespace kcg {

namespace {

constexpr int kUsage = 2;

}  // namespace

Status fits_this_machine(const Config& config) {
  const auto origin = config.origin("cgroup.root");
  if (origin == "default") return {};  // the file may be meant for another machine
  const auto host = discover_host(config.cgroup);
  if (!host)
    return fail(0, "{}: cgroup.root: \"{}\" cannot be used on this machine: {}", origin,
                escaped(config.cgroup.root, 128), host.error().text);
  return {};
}

Parsed parse_options(int argc, char** argv) {
  Parsed parsed;
  Options& o = parsed.options;
  CLI::App app("Places and sizes the host threads of Kata Containers sandboxes.", "kata-cgroupd");
  app.set_version_flag("--version", version());
  app.add_option("--config", o.config_file, "Configuration file instead of the standard one")
      ->type_name("FILE");
  app.add_flag("--check-config", o.check_config, "Validate the configuration and exit");
  app.add_flag("--dump-config", o.dump_config,
               "Print the effective configuration with the origin of each value and exit");
  app.add_flag("--observe", o.observe, "Decide everything, write nothing into any cgroup");
  app.add_option("--bus", o.bus, "Where to serve D-Bus: system, none, or an address")
      ->type_name("ADDRESS");
  app.add_option("--cgroup-root", o.cgroup_root, "Where the cgroup trees are mounted")
      ->type_name("DIR");
  app.add_option("--run-root", o.run_root, "Look for every path below /run in DIR/run instead")
      ->type_name("DIR");
  const std::map<std::string, LogLevel> levels = {{"error", LogLevel::error},
                                                  {"warning", LogLevel::warning},
                                                  {"notice", LogLevel::notice},
                                                  {"info", LogLevel::info},
                                                  {"debug", LogLevel::debug}};
  app.add_option("--log-level", o.log_level, "error, warning, notice, info (default) or debug")
      ->transform(CLI::CheckedTransformer(levels, CLI::ignore_case).description(""))
      ->type_name("LEVEL");
  // CLI11 speaks by exceptions; they end here.
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    parsed.exit_code = app.exit(error) == 0 ? 0 : kUsage;
  }
  o.run_root = run_root_named(o.run_root);
  return parsed;
}

Result<Config> effective_config(const Options& options) {
  return config_in_force({options.config_file,
                          {{"mode", options.observe ? "observe" : "", "--observe"},
                           {"bus.address", options.bus, "--bus"},
                           {"cgroup.root", options.cgroup_root, "--cgroup-root"}},
                          options.run_root});
}

std::string below_run_root(const Options& options, const char* directory) {
  const bool prefixed = !options.run_root.empty() && options.run_root != "/";
  return (prefixed ? options.run_root : "") + directory;
}

}  // namespace kcg
