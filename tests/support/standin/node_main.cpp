// SPDX-License-Identifier: Apache-2.0
//
// runc's command line, for the stand-in of Kata's runtime on the node of the end-to-end tests
// (node_runtime.hpp). It knows two commands more, for the tests: `setting KEY`, which prints how
// Kata is configured now, and `device-programs DIRECTORY`, which prints the ids of those attached
// to a group.
#include <signal.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "base/text.hpp"
#include "node_home.hpp"
#include "node_runtime.hpp"
#include "node_settings.hpp"
#include "processes.hpp"
#include "support/device_program.hpp"

namespace {

using namespace kcg;
using namespace kcg::standin;

/// Options with a value of their own that is passed over.
constexpr std::array<std::string_view, 10> kWithValue = {
    "--root",    "--log",          "--log-format", "--criu", "--console-socket",
    "--process", "--preserve-fds", "--resources",  "-r",     "--format"};

/// Global options, the command, its options, and its words.
Call parse(int argc, char** argv) {
  Call call;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto value = [&]() -> std::string { return i + 1 < argc ? argv[++i] : ""; };
    if (word == "--bundle" || word == "-b") {
      call.bundle = value();
    } else if (word == "--pid-file") {
      call.pid_file = value();
    } else if (std::find(kWithValue.begin(), kWithValue.end(), word) != kWithValue.end()) {
      (void)value();
    } else if (!word.starts_with('-')) {
      call.words.emplace_back(word);
    }
  }
  return call;
}

/// "9", "KILL" or "SIGKILL"; "": TERM
Result<int> parse_signal(const std::string& text) {
  if (text.empty()) return SIGTERM;
  if (const auto number = parse_u64(text); number && *number < NSIG)
    return static_cast<int>(*number);
  const auto name = text.starts_with("SIG") ? text.substr(3) : text;
  for (int signal = 1; signal < NSIG; ++signal) {
    const char* const known = ::sigabbrev_np(signal);
    if (known != nullptr && name == known) return signal;
  }
  return fail(EINVAL, "{}: no signal", text);
}

/// The engine knows these words, and takes them for "it has ended".
Status send_signal(const Call& call) {
  const auto pid = read_pid(call.word(1));
  if (!pid) return forward(pid.error());
  const auto signal = parse_signal(call.word(2));
  if (!signal) return forward(signal.error());
  if (alive(*pid) && ::kill(*pid, *signal) == 0) return {};
  return fail(ESRCH, "container not running");
}

Result<std::string> state(const std::string& id) {
  const auto pid = read_pid(id);
  const auto record = read_record(id);
  if (!pid || !record) return forward(pid ? record.error() : pid.error());
  const nlohmann::ordered_json answer = {{"ociVersion", "1.0.2"},
                                         {"id", id},
                                         {"pid", *pid},
                                         {"status", alive(*pid) ? "running" : "stopped"},
                                         {"bundle", record->bundle}};
  return answer.dump() + "\n";
}

Result<std::string> setting(const std::string& key) {
  const auto settings = read_settings(kSettingsFile);
  if (!settings) return forward(settings.error());
  const auto found = settings->find(key);
  if (found == settings->end()) return fail(EINVAL, "{}: no such setting", key);
  return found->second + "\n";
}

Result<std::string> device_programs(const std::string& directory) {
  std::string text;
  for (const auto id : test::attached_device_programs(directory))
    text.append(text.empty() ? "" : " ").append(std::to_string(id));
  return text + "\n";
}

Status change(const Call& call) {
  const auto command = call.word(0);
  auto runtime = command == "create" ? NodeRuntime::make(call) : NodeRuntime::find(call);
  if (!runtime) return forward(runtime.error());
  if (command == "create") return runtime->create();
  if (command == "start") return runtime->start();
  if (command == "delete") return runtime->remove();
  return runtime->update(std::string(std::istreambuf_iterator<char>(std::cin), {}));
}

/// It was made, and its sandbox was.
bool is_known(const std::string& id) {
  const auto record = read_record(id);
  return record && read_record(record->sandbox);
}

/// What goes to standard output.
Result<std::string> answer(const Call& call) {
  const auto command = call.word(0);
  const auto id = call.word(1);
  const auto silent = [](const Status& done) -> Result<std::string> {
    if (!done) return forward(done.error());
    return std::string();
  };
  if (command == "setting") return setting(id);
  if (command == "device-programs") return device_programs(id);
  log_line(call, join(call.words, " "));
  if (command == "delete" && !is_known(id)) return std::string();
  for (const char* const one : {"create", "start", "update", "delete"})
    if (command == one) return silent(change(call));
  if (command == "kill") return silent(send_signal(call));
  if (command == "state") return state(id);
  if (command == "ps") {
    const auto pid = read_pid(id);
    if (!pid) return forward(pid.error());
    return fmt::format("[{}]\n", *pid);
  }
  for (const char* const one : {"pause", "resume", "events", "features"})
    if (command == one) return std::string();
  return std::string("runc version 1.1.15 (stand-in)\n");
}

}  // namespace

int main(int argc, char** argv) {
  const auto call = parse(argc, argv);
  try {
    const auto text = answer(call);
    if (text) {
      fmt::print("{}", *text);
      return 0;
    }
    log_line(call, "failed: " + text.error().text);
    fmt::print(stderr, "{}\n", text.error().text);
  } catch (const std::exception& error) {  // of JSON that is not as it was written
    log_line(call, fmt::format("failed: {}", error.what()));
    fmt::print(stderr, "{}\n", error.what());
  }
  return 1;
}
