// SPDX-License-Identifier: Apache-2.0
//
// cgctl: parse, ask, print.
#include <cstdio>
#include <string>

#include "tools/cgctl/bus_source.hpp"
#include "tools/cgctl/command_line.hpp"
#include "tools/cgctl/failure.hpp"
#include "tools/cgctl/terminal.hpp"
#include "tools/cgctl/verbs.hpp"

namespace kcg::cgctl {

namespace {

Result<Answer> ask(const Options& options, const Style& style, Source& source) {
  const bool reasons = options.verb == Verb::plan || options.verb == Verb::explain;
  return reasons ? reason(options, style, source) : look(options, style, source);
}

/// Chooses who is asked. `note` is set when the daemon was looked for in vain.
Result<Answer> run(const Options& options, const Style& style, std::string& note) {
  if (!options.bundles.empty()) return foresee(options, style);
  if (changes_something(options.verb)) {
    if (options.no_daemon)
      return fail(static_cast<int>(ClientError::not_reachable),
                  "only the daemon can do this: leave --no-daemon out");
    auto daemon = BusSource::connect(options.bus);
    if (!daemon) return forward(daemon.error());
    return change(options, **daemon);
  }
  if (!options.no_daemon) {
    auto daemon = BusSource::connect(options.bus);
    if (daemon) return ask(options, style, **daemon);
    note = daemon.error().text + "; reading the kernel directly";
  }
  return ask(options, style, *make_node_source(options));
}

/// A full disk or a closed pipe is a failure, too.
bool print(std::FILE* stream, const std::string& text) {
  return std::fwrite(text.data(), 1, text.size(), stream) == text.size() &&
         std::fflush(stream) == 0;
}

int main_status(int argc, const char* const* argv) {
  const auto line = parse_command_line(argc, argv);
  if (line.exit) {
    const bool printed = print(stdout, line.out) && print(stderr, line.err);
    return static_cast<int>(printed ? *line.exit : Exit::failed);
  }
  std::string note;
  const auto& options = line.options;
  const auto answer = run(options, style_of_stdout(options.color), note);
  if (!answer) {
    (void)print(stderr, failure_text(answer.error(), options.json, note));  // ignored: nowhere else
    return static_cast<int>(failure_exit(answer.error()));
  }
  const bool printed = print(stderr, note_text(options.json, note)) && print(stdout, answer->out);
  return static_cast<int>(printed ? answer->exit : Exit::failed);
}

}  // namespace

}  // namespace kcg::cgctl

int main(int argc, char** argv) { return kcg::cgctl::main_status(argc, argv); }
