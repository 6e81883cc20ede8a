// SPDX-License-Identifier: Apache-2.0
#include "tools/cgctl/command_line.hpp"

#include <CLI/CLI.hpp>
#include <map>
#include <sstream>

#include "base/text.hpp"
#include "base/version.hpp"
#include "daemon/manager.hpp"
#include "tools/cgctl/failure.hpp"
#include "tools/cgctl/text.hpp"

namespace kcg::cgctl {

namespace {

constexpr const char* kPodHelp =
    "namespace/name or name of the pod, or at least 4 characters of the sandbox's id";

/// What `register` collects before it is checked.
struct RegisterTexts {
  std::vector<std::string> annotations, containers;
  std::string memory_overhead;
};

void add_globals(CLI::App& app, Options& o) {
  const std::map<std::string, ColorChoice> colors = {{"auto", ColorChoice::automatic},
                                                     {"always", ColorChoice::always},
                                                     {"never", ColorChoice::never}};
  app.set_version_flag("--version", std::string("cgctl ") + version(), "Print the version");
  app.add_flag("--json", o.json, "Print one JSON document");
  app.add_option("--bus", o.bus, "Where the daemon serves D-Bus: system (default) or an address")
      ->envname("CGCTL_BUS")
      ->type_name("ADDRESS");
  app.add_flag("--no-daemon", o.no_daemon, "Read the kernel and /run directly");
  app.add_option("--color", o.color, "auto (default), always or never")
      ->transform(CLI::CheckedTransformer(colors).description(""))
      ->type_name("WHEN");
  app.add_flag("--wide", o.wide, "All columns and whole lines, though the terminal is too narrow");
  app.add_flag("--raw", o.raw, "Show the kernel's keys and values beside the numbers");
  app.add_option("--config", o.config_file,
                 "Without the daemon: configuration file instead of the standard one")
      ->type_name("FILE");
  app.add_option("--cgroup-root", o.cgroup_root,
                 "Without the daemon: where the cgroup trees are mounted")
      ->type_name("DIR");
  app.add_option("--run-root", o.run_root,
                 "Without the daemon: look for every path below /run in DIR/run instead")
      ->envname("CGCTL_RUN_ROOT")
      ->type_name("DIR");
}

/// One verb; `chosen` is set when it is the one.
CLI::App& add_verb(CLI::App& app, Options& o, Verb verb, const char* name, const char* what) {
  auto* const sub = app.add_subcommand(name, what);
  sub->fallthrough();  // global options after the verb, too
  sub->footer("Global options: see cgctl --help.");
  sub->callback([&o, verb] { o.verb = verb; });
  return *sub;
}

void add_id(CLI::App& verb, Options& o, bool required) {
  verb.add_option("POD", o.id, kPodHelp)->required(required);
}

void add_reading_verbs(CLI::App& app, Options& o) {
  add_verb(app, o, Verb::status, "status",
           "How the daemon is, and whether all is well; the same without a verb, in short");
  auto& list = add_verb(app, o, Verb::list, "list", "Show all sandboxes");
  list.add_flag("--all", o.all, "Also show bundles that are not managed, and why");
  list.add_flag("--failing", o.failing,
                "Only those with a warning or an error; exit status 4 if there are any");
  list.add_option("-l,--label", o.labels, "Only pods with this label; all of them, if repeated")
      ->type_name("KEY[=VALUE]")
      ->expected(1)
      ->take_all();
  add_id(add_verb(app, o, Verb::show, "show", "Show everything about one sandbox"), o, true);
  add_id(add_verb(app, o, Verb::tree, "tree", "Draw the groups with members, limits and usage"), o,
         false);
  add_id(add_verb(app, o, Verb::threads, "threads", "Show each thread, where it is and belongs"), o,
         true);
}

void add_other_verbs(CLI::App& app, Options& o) {
  add_id(add_verb(app, o, Verb::events, "events",
                  "Show what has happened, also to pods that are gone"),
         o, false);
  add_id(add_verb(app, o, Verb::watch, "watch", "Print what happens, a line for each event"), o,
         false);
  add_verb(app, o, Verb::top, "top", "Watch what the sandboxes use, each second")
      .add_flag("--once", o.once, "Print it once, after a second; needs no terminal");
  add_verb(app, o, Verb::metrics, "metrics",
           "Print what Prometheus is told, in its text format; exit status 5 without the daemon");
  add_verb(app, o, Verb::recommend, "recommend",
           "Show what sandboxes use beside their guests, and which overhead to declare")
      .add_option("--handler", o.handler, "Only those of this runtime handler")
      ->type_name("HANDLER");
  add_verb(app, o, Verb::registrations, "registrations",
           "Show what was registered, since when and by whom");
  add_verb(app, o, Verb::doctor, "doctor",
           "Check the node, the daemon and Kata; what is wrong, and what to do")
      .add_option("--report", o.report, "Also write what a maintainer needs into a new file")
      ->type_name("FILE");
  add_verb(app, o, Verb::uninstall_check, "uninstall-check",
           "Show which sandboxes live in groups of ours; exit status 4 if there are any");
  add_id(add_verb(app, o, Verb::release, "release",
                  "Give sandboxes back to Kata's own groups, while no daemon enforces"),
         o, false);
  add_verb(app, o, Verb::check_config, "check-config",
           "Check the configuration and print it with the origin of each value")
      .add_option("FILE", o.config_file, "Instead of the standard file and its drop-ins");
}

void add_plan_verbs(CLI::App& app, Options& o) {
  const std::map<std::string, HierarchyMode> modes = {{"v1", HierarchyMode::v1},
                                                      {"v2", HierarchyMode::v2}};
  auto& plan = add_verb(app, o, Verb::plan, "plan", "Show what would be written now, in order");
  plan.add_flag("--detailed-exitcode", o.detailed_exit, "Exit status 4 if there is a step");
  auto& explain = add_verb(app, o, Verb::explain, "explain",
                           "Show each limit and placement with its formula and sources");
  for (auto* const verb : {&plan, &explain}) {
    auto* const id = verb->add_option("POD", o.id, kPodHelp);
    auto* const bundle =
        verb->add_option("--bundle", o.bundles,
                         "For OCI bundles that need not run: the sandbox's, then its containers'")
            ->type_name("DIR")
            ->expected(1, CLI::detail::expected_max_vector_size)
            ->excludes(id);
    if (verb == &explain)
      verb->add_option("TOPIC", o.topic, "memory, cpu, cpuset or placement; everything without")
          ->check(CLI::IsMember({"memory", "cpu", "cpuset", "placement"}).description(""));
    verb->add_option_function<HierarchyMode>(
            "--assume-hierarchy", [&o](const HierarchyMode& mode) { o.assumed = mode; },
            "With --bundle: v1 or v2 instead of this machine's")
        ->transform(CLI::CheckedTransformer(modes).description(""))
        ->type_name("HIERARCHY")
        ->needs(bundle);
  }
}

void add_register(CLI::App& app, Options& o, RegisterTexts& texts) {
  auto& verb = add_verb(app, o, Verb::register_sandbox, "register", "Declare a sandbox");
  auto& r = o.registration;
  verb.add_option("ID", o.id, "Full id")->required();
  const auto text = [&verb](const char* name, std::optional<std::string>& to, const char* what) {
    verb.add_option(name, to, what)->type_name("TEXT");
  };
  text("--cgroups-path", r.cgroups_path, "linux.cgroupsPath of the sandbox container");
  text("--handler", r.handler, "Runtime handler");
  text("--pod-namespace", r.pod_namespace, "Namespace of the pod");
  text("--pod-name", r.pod_name, "Name of the pod");
  text("--pod-uid", r.pod_uid, "Uid of the pod");
  const auto many = [&verb](const char* name, std::vector<std::string>& to, const char* what) {
    return verb.add_option(name, to, what)->expected(1)->take_all();
  };
  many("--annotation", texts.annotations, "Annotation of the sandbox container; repeatable")
      ->type_name("KEY=VALUE");
  many("--container", texts.containers,
       "A container's limits; NAME: memory, cpu-quota, cpu-period, cpu-shares, cpus, mems; "
       "repeatable")
      ->type_name("ID[:NAME=VALUE...]");
  verb.add_option("--shim-pid", r.shim_pid, "Process id of the shim")
      ->check(CLI::PositiveNumber.description(""))
      ->type_name("PID");
  verb.add_option("--vmm-pid", r.vmm_pid, "Process id of the hypervisor")
      ->check(CLI::PositiveNumber.description(""))
      ->type_name("PID");
  verb.add_option("--memory-overhead", texts.memory_overhead,
                  "Memory that the VM needs beyond its containers; suffixes Ki, Mi, Gi")
      ->type_name("BYTES");
  verb.add_option("--cpu-overhead", r.cpu_overhead_milli, "CPU beyond its containers")
      ->type_name("MILLICORES");
  verb.add_option("--sandbox-cgroup-only", r.sandbox_cgroup_only,
                  "true: layout sandbox-only; false: legacy")
      ->type_name("BOOL");
}

void add_changing_verbs(CLI::App& app, Options& o, RegisterTexts& texts) {
  auto& reconcile =
      add_verb(app, o, Verb::reconcile, "reconcile", "Put right what is not as desired, now");
  add_id(reconcile, o, false);
  reconcile.add_flag("--adopt", o.adopt, "Also place a sandbox that was left unmanaged");
  add_verb(app, o, Verb::reload, "reload", "Have the daemon read its configuration again");
  add_register(app, o, texts);
  add_id(add_verb(app, o, Verb::unregister_sandbox, "unregister", "Forget what register declared"),
         o, true);
}

Status set_number(std::optional<std::uint64_t>& to, std::string_view value, bool bytes) {
  const auto count = bytes ? parse_bytes(value) : Result<std::uint64_t>(0);
  if (!count) return forward(count.error());
  const auto plain = parse_u64(value);
  if (!bytes && !plain) return fail(0, "'{}' is not a number", escaped(value));
  to = bytes ? *count : *plain;
  return {};
}

Status set_part(ContainerOption& out, std::string_view key, std::string_view value) {
  if (key == "memory") return set_number(out.memory, value, true);
  if (key == "cpu-quota") return set_number(out.cpu_quota, value, false);
  if (key == "cpu-period") return set_number(out.cpu_period, value, false);
  if (key == "cpu-shares") return set_number(out.cpu_shares, value, false);
  if (key != "cpus" && key != "mems")
    return fail(0, "'{}' is not one of memory, cpu-quota, cpu-period, cpu-shares, cpus, mems",
                escaped(key));
  (key == "cpus" ? out.cpus : out.mems) = value;
  return {};
}

Status check_register(const RegisterTexts& texts, RegisterOptions& out) {
  for (const auto& text : texts.annotations) {
    const auto at = text.find('=');
    if (at == std::string::npos || at == 0)
      return fail(0, "--annotation: '{}' is not KEY=VALUE", escaped(text));
    out.annotations.emplace_back(text.substr(0, at), text.substr(at + 1));
  }
  for (const auto& text : texts.containers) {
    auto container = parse_container(text);
    if (!container) return forward(container.error(), "--container");
    out.containers.push_back(*std::move(container));
  }
  if (texts.memory_overhead.empty()) return {};
  const auto bytes = parse_bytes(texts.memory_overhead);
  if (!bytes) return forward(bytes.error(), "--memory-overhead");
  out.memory_overhead = *bytes;
  return {};
}

CommandLine usage_error(CommandLine line, bool json, const std::string& text) {
  line.exit = Exit::usage;
  line.options.json = json;
  if (json)
    line.err = failure_text({static_cast<int>(ManagerError::invalid_argument), text}, true, "");
  else
    line.err = "cgctl: " + printable_lines(text) + "\nTry 'cgctl --help'.\n";
  return line;
}

/// Asked before the line is parsed: what cannot be parsed is told in that form, too.
bool wants_json(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--") return false;
    if (word == "--json") return true;
  }
  return false;
}

}  // namespace

Result<ContainerOption> parse_container(std::string_view text) {
  const auto parts = split(text, ':');
  ContainerOption out;
  out.id = parts.front();
  if (out.id.empty()) return fail(0, "'{}' has no id", escaped(text));
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto at = parts[i].find('=');
    if (at == std::string_view::npos) return fail(0, "'{}' is not NAME=VALUE", escaped(parts[i]));
    if (auto status = set_part(out, parts[i].substr(0, at), parts[i].substr(at + 1)); !status)
      return forward(status.error(), out.id);
  }
  return out;
}

CommandLine parse_command_line(int argc, const char* const* argv) {
  CommandLine line;
  RegisterTexts texts;
  CLI::App app("Shows and steers how Kata Containers sandboxes are placed in cgroups.", "cgctl");
  app.require_subcommand(0, 1);
  app.footer(
      "Exit status: 0 good, 1 failed, 2 usage, 3 no such sandbox, 4 something is wrong,\n"
      "5 the daemon is needed and cannot be reached. See cgctl(1).");
  add_globals(app, line.options);
  add_reading_verbs(app, line.options);
  add_plan_verbs(app, line.options);
  add_changing_verbs(app, line.options, texts);
  add_other_verbs(app, line.options);
  // CLI11 speaks by exceptions; they end here.
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {
    std::ostringstream out, err;
    (void)app.exit(done, out, err);
    line.exit = Exit::good;
    line.out = out.str();
    return line;
  } catch (const CLI::ParseError& error) {
    return usage_error(std::move(line), wants_json(argc, argv), error.what());
  }
  line.options.brief = app.get_subcommands().empty();
  if (line.options.verb == Verb::reconcile && line.options.adopt && line.options.id.empty())
    return usage_error(std::move(line), wants_json(argc, argv),
                       "--adopt needs the name of one sandbox");
  if (line.options.verb == Verb::metrics && line.options.json)
    return usage_error(std::move(line), true,
                       "metrics has Prometheus' text format only; as JSON: list, show, status");
  if (auto status = check_register(texts, line.options.registration); !status)
    return usage_error(std::move(line), wants_json(argc, argv), status.error().text);
  return line;
}

}  // namespace kcg::cgctl
