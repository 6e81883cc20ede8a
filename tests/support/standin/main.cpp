// SPDX-License-Identifier: Apache-2.0
//
// containerd-shim-kata-v2, the stand-in: parse, dispatch. --help says what it does.
#include <cstdio>
#include <fstream>

#include "options.hpp"
#include "shim.hpp"
#include "sockets.hpp"
#include "vmm.hpp"

namespace {

using namespace kcg;
using namespace kcg::standin;

Status serve(const Options& options) {
  auto shim = Shim::create(options);
  if (!shim) return forward(shim.error());
  return shim->serve();
}

/// As a real one: the helper leaves the shim's pid and address in the bundle and goes.
Status start(const Options& o) {
  auto pid = start_shim(o);
  if (!pid) return forward(pid.error());
  if (auto done = write_shim_pid(o.bundle, *pid); !done) return done;
  const auto address = "unix://" + places(o).control();
  std::ofstream(o.bundle + "/address") << address;
  fmt::print("{}\n", address);
  return {};
}

Status control(const Options& o) {
  std::string command;
  for (std::size_t i = 1; i < o.arguments.size(); ++i)
    command.append(i > 1 ? " " : "").append(o.arguments[i]);
  auto answer = ask(o.arguments[0], command);
  if (!answer) return forward(answer.error());
  fmt::print("{}\n", *answer);
  return {};
}

Status run(const Options& options) {
  switch (options.verb) {
    case Verb::help:
      fmt::print("{}", help_text());
      return {};
    case Verb::control:
      return control(options);
    case Verb::start:
      return start(options);
    case Verb::remove:
      return remove_leftovers(options);
    case Verb::serve:
      break;
  }
  return serve(options);
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = kcg::standin::parse_options(argc, argv);
  const auto done = options ? run(*options) : kcg::forward(options.error());
  if (done) return 0;
  fmt::print(stderr, "containerd-shim-kata-v2: {}\n", done.error().text);
  return 1;
}
