// SPDX-License-Identifier: Apache-2.0
//
// cgctl: parse, ask, print.
#include <cstdio>
#include <string>

#include "base/clock.hpp"
#include "tools/cgctl/bus_source.hpp"
#include "tools/cgctl/command_line.hpp"
#include "tools/cgctl/events.hpp"
#include "tools/cgctl/failure.hpp"
#include "tools/cgctl/metrics/families.hpp"
#include "tools/cgctl/metrics/sample.hpp"
#include "tools/cgctl/recommend.hpp"
#include "tools/cgctl/registrations.hpp"
#include "tools/cgctl/resolve.hpp"
#include "tools/cgctl/status.hpp"
#include "tools/cgctl/terminal.hpp"
#include "tools/cgctl/text.hpp"
#include "tools/cgctl/verbs.hpp"
#include "tools/cgctl/watch.hpp"

namespace kcg::cgctl {

namespace {

/// Value: what is said besides, and what is known of the daemon.
struct Besides {
  std::string note;
  DaemonState daemon;
};

/// What is said besides a list: who reads that all sandboxes are well should know when the daemon
/// is not.
std::string problems_note(const std::vector<std::string>& problems) {
  std::string note;
  for (const auto& problem : problems) note += (note.empty() ? "the daemon: " : "; ") + problem;
  return note;
}

/// In a pipe a list is a table and nothing else.
std::string observe_line(const Options& options, const Style& style, const DaemonState& daemon) {
  const bool list = options.verb == Verb::list && style.width;
  const bool shown = list || options.verb == Verb::show || options.verb == Verb::plan;
  if (daemon.mode != "observe" || !shown || options.json) return "";
  return painted(style, Paint::warning, kObserveNote) + "\n";
}

Result<Answer> status(const Options& options, const Style& style, Source& source,
                      const Besides& besides) {
  const auto views = source.list(false);
  // That the daemon is dead is the answer, also where the kernel cannot be read.
  const bool dead = besides.daemon.asked && !besides.daemon.running;
  if (!views && !dead) return forward(views.error());
  return status_answer(options, style, besides.daemon, views ? *views : std::vector<SandboxView>());
}

Result<Answer> ask(const Options& options, const Style& style, Source& source, Besides& besides) {
  if (options.verb == Verb::status) return status(options, style, source, besides);
  if (options.verb == Verb::recommend) return recommendation(options, style, source);
  if (options.verb == Verb::top) return watch_usage(options, style, source);
  const bool reasons = options.verb == Verb::plan || options.verb == Verb::explain;
  auto answer = reasons ? reason(options, style, source)
                        : look(options, style, source, daemon_words(besides.daemon));
  if (!answer) return answer;
  if (options.json && options.verb == Verb::list)
    answer->out = with_daemon(answer->out, besides.daemon);
  answer->out = observe_line(options, style, besides.daemon) + answer->out;
  return answer;
}

/// The daemon's, else the kernel's own; why not the daemon's is noted.
Result<Answer> find_out(const Options& options, const Style& style, Besides& besides) {
  besides.daemon.asked = !options.no_daemon;
  if (!options.no_daemon) {
    auto daemon = BusSource::connect(options.bus);
    if (daemon) {
      besides.daemon = (*daemon)->state();
      if (options.verb == Verb::list) besides.note = problems_note(besides.daemon.problems);
      return ask(options, style, **daemon, besides);
    }
    besides.daemon.why_not = daemon.error().text;
    besides.note = daemon.error().text + "; reading the kernel directly";
  }
  auto answer = ask(options, style, *make_node_source(options), besides);
  // It has said so itself.
  if (options.verb == Verb::status && !options.json) besides.note.clear();
  return answer;
}

/// A full disk or a closed pipe is a failure, too.
bool print(std::FILE* stream, const std::string& text) {
  return std::fwrite(text.data(), 1, text.size(), stream) == text.size() &&
         std::fflush(stream) == 0;
}

/// Beside the answer; a document is not broken into lines.
bool print_besides(const Options& options, const std::string& text) {
  return print(stderr, options.json ? text : wrapped(style_of(stderr, options), text));
}

/// Until somebody ends it. What a sandbox is called is asked when it is first spoken of.
Result<Answer> watch(const Options& options, const Style& style, BusSource& daemon) {
  const auto only = full_id(options.id, daemon);
  if (!only) return forward(only.error());
  const auto views = daemon.list(false);
  if (!views) return forward(views.error());
  Titles titles;
  for (const auto& view : *views) titles[view.id] = title(view);
  const auto title_of = [&](const std::string& id) {
    const auto known = titles.find(id);
    if (known != titles.end()) return known->second;
    const auto view = daemon.view(id);
    return view ? titles[id] = title(*view) : std::string();
  };
  const auto seen = watch_bus(options.bus, [&](const Event& event) {
    if (!only->empty() && !event.id.empty() && event.id != *only) return true;
    const bool named = event.kind == Event::Kind::happened;
    const auto name = named              ? title(view_of(event.history))
                      : event.id.empty() ? ""
                                         : title_of(event.id);
    return print(stdout, event_line(options, style, event, name, SystemClock().wall_seconds()));
  });
  if (!seen) return forward(seen.error());
  return fail(0, "what was seen could not be written");
}

Result<Answer> registrations(const Options& options, const Style& style, BusSource& daemon) {
  const auto views = daemon.registrations();
  if (!views) return forward(views.error());
  return Answer{options.json ? registrations_document(*views)
                             : render_registrations(style, *views)};
}

bool needs_daemon(Verb verb) {
  return changes_something(verb) || verb == Verb::watch || verb == Verb::registrations ||
         verb == Verb::metrics;
}

/// Over a dead daemon that it is dead is the answer, too.
Result<Answer> metrics(const Options& options, Besides& besides) {
  const auto sample = take_metrics(options.bus);
  besides.note = sample.why_not;
  return Answer{metrics_text(sample.families),
                sample.why_not.empty() ? Exit::good : Exit::no_daemon};
}

/// Only the daemon can do it.
Result<Answer> tell(const Options& options, const Style& style, Besides& besides) {
  if (options.no_daemon)
    return fail(static_cast<int>(ClientError::not_reachable),
                "only the daemon can do this: leave --no-daemon out");
  if (options.verb == Verb::metrics) return metrics(options, besides);
  auto daemon = BusSource::connect(options.bus);
  if (!daemon) return forward(daemon.error());
  if (options.verb == Verb::registrations) return registrations(options, style, **daemon);
  return options.verb == Verb::watch ? watch(options, style, **daemon) : change(options, **daemon);
}

Result<Answer> run(const Options& options, const Style& style, Besides& besides) {
  if (!options.bundles.empty()) return foresee(options, style);
  if (options.verb == Verb::check_config) return check_config(options);
  if (options.verb == Verb::doctor) return doctor_answer(options, style);
  if (options.verb == Verb::uninstall_check) return uninstall_check(options, style);
  if (options.verb == Verb::release) return release(options, style);
  if (needs_daemon(options.verb)) return tell(options, style, besides);
  return find_out(options, style, besides);
}

/// A check of health must not be green over a dead daemon, whatever the kernel says. Who asked for
/// no daemon gets an answer about the kernel.
Exit exit_without_daemon(const Options& options, const DaemonState& daemon, Exit exit) {
  const bool health = options.verb == Verb::list && options.failing;
  return health && daemon.asked && !daemon.running ? Exit::no_daemon : exit;
}

int main_status(int argc, const char* const* argv) {
  const auto line = parse_command_line(argc, argv);
  if (line.exit) {
    const auto out = wrapped(style_of(stdout, line.options), line.out);
    const bool printed = print(stdout, out) && print_besides(line.options, line.err);
    return static_cast<int>(printed ? *line.exit : Exit::failed);
  }
  Besides besides;
  const auto& options = line.options;
  const auto answer = run(options, style_of(stdout, options), besides);
  const auto& note = besides.note;
  if (!answer) {
    const auto text = failure_text(answer.error(), options.json, note);
    (void)print_besides(options, text);  // ignored: nowhere else
    const auto exit = failure_exit(answer.error());
    return static_cast<int>(exit_without_daemon(options, besides.daemon, exit));
  }
  const auto text = options.json ? printable_json(answer->out) : answer->out;
  if (!print_besides(options, note_text(options.json, note)) || !print(stdout, text))
    return static_cast<int>(Exit::failed);
  return static_cast<int>(exit_without_daemon(options, besides.daemon, answer->exit));
}

}  // namespace

}  // namespace kcg::cgctl

int main(int argc, char** argv) { return kcg::cgctl::main_status(argc, argv); }
