// SPDX-License-Identifier: Apache-2.0
#include "daemon/options.hpp"

#include <CLI/CLI.hpp>
#include <map>

#include "config/reload.hpp"
#include "observe/config_files.hpp"

namespace kcg {

namespace {

constexpr const char* kConfigFile = "/etc/kata-cgroupd/config.toml";
constexpr int kUsage = 2;

}  // namespace

Parsed parse_options(int argc, char** argv) {
  Parsed parsed;
  Options& o = parsed.options;
  CLI::App app("Places and sizes the host threads of Kata Containers sandboxes.", "kata-cgroupd");
  app.set_version_flag("--version", KCG_VERSION);
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
  return parsed;
}

Result<LoadedConfig> effective_config(const Options& options) {
  const bool named = !options.config_file.empty();
  auto loaded = named ? read_config(options.config_file, true, {})
                      : read_config(kConfigFile, false, default_drop_in_roots());
  if (!loaded) return loaded;
  Config& config = loaded->config;
  const auto set = [&loaded](const char* key) { loaded->origins[key] = "command line"; };
  if (options.observe) {
    config.mode = Mode::observe;
    set("mode");
  }
  if (!options.bus.empty()) {
    config.bus_address = options.bus;
    set("bus.address");
  }
  if (!options.cgroup_root.empty()) {
    config.cgroup.root = options.cgroup_root;
    set("cgroup.root");
  }
  config = with_run_root(std::move(config), options.run_root);
  config.origins = loaded->origins;
  return loaded;
}

std::string run_directory(const Options& options) {
  const bool prefixed = !options.run_root.empty() && options.run_root != "/";
  return (prefixed ? options.run_root : "") + "/run/kata-cgroupd";
}

}  // namespace kcg
