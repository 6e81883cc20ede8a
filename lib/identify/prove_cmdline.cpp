// SPDX-License-Identifier: Apache-2.0
//
// What a command line says about a process: shim, VMM or file server of which sandbox. Ids are
// compared with whole path components and whole arguments, never with parts of them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "identify/prove.hpp"
#include "identify/recognise.hpp"

namespace kcg {

namespace {

/// Kata gives Firecracker, which takes no longer ones, this many characters of the id.
constexpr std::size_t kFirecrackerId = 32;

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Flags of the shim that take a value; the others ("-debug") stand alone. Go's syntax: one or two
/// dashes, "-flag value" or "-flag=value".
constexpr std::array<std::string_view, 6> kShimValueFlags = {
    "namespace", "address", "id", "bundle", "socket", "publish-binary"};

/// Value: a shim's command line, as far as it matters.
struct ShimArguments {
  std::string id;
  bool helper = false;  ///< `start` or `delete`: ends within milliseconds
};

ShimArguments parse_shim(const std::vector<std::string>& args) {
  ShimArguments found;
  for (std::size_t i = 1; i < args.size(); ++i) {
    std::string_view arg = args[i];
    if (arg.empty() || arg.front() != '-') {
      found.helper = found.helper || arg == "start" || arg == "delete";
      continue;
    }
    arg.remove_prefix(arg.substr(0, 2) == "--" ? 2 : 1);
    const auto equals = arg.find('=');
    const auto flag = arg.substr(0, equals);
    if (std::find(kShimValueFlags.begin(), kShimValueFlags.end(), flag) == kShimValueFlags.end())
      continue;
    std::string_view value;
    if (equals != std::string_view::npos)
      value = arg.substr(equals + 1);
    else if (i + 1 < args.size())
      value = args[++i];
    if (flag == "id") found.id = value;
  }
  return found;
}

/// `text` holds a path ("/a/b", "path=/a/b", "x=y,path=/a/b") with a component equal to `name`.
bool has_component(std::string_view text, std::string_view name) {
  for (const auto part : split(text, ',')) {
    const auto path = part.substr(part.find('=') + 1);  // no '=': npos + 1 is the beginning
    if (path.find('/') == std::string_view::npos) continue;
    const auto components = split(path, '/');
    if (std::find(components.begin(), components.end(), name) != components.end()) return true;
  }
  return false;
}

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool serves_files(std::string_view exe) {
  const auto program = base_name(exe);
  return starts_with(program, "virtiofsd") || starts_with(program, "nydusd");
}

/// No path and no id is longer.
constexpr std::size_t kLongestArg = 4096;
constexpr std::size_t kLongestTelling = std::size_t{16} << 10;

/// Options of a VMM that tell whose it is ("-m": how large), with the value in the next argument.
constexpr std::array<std::string_view, 7> kTellingOptions = {
    "-name", "--name", "--ttrpc", "--api-socket", "--id", "--api-sock", "-m"};

bool is_telling(std::string_view option) {
  return std::find(kTellingOptions.begin(), kTellingOptions.end(), option) != kTellingOptions.end();
}

/// Value: an option of a VMM that tells something.
struct Telling {
  std::string_view option;
  std::string_view value;
  bool joined = false;  ///< "--option=value", else two arguments
};

/// Whoever reads a command line reads it so, that what is kept of it says the same as the whole: a
/// value is no option, whatever it looks like.
std::vector<Telling> telling_options(const std::vector<std::string>& args) {
  std::vector<Telling> found;
  const auto add = [&found](std::string_view arg, const Telling& one) {
    if (arg.size() <= kLongestArg) found.push_back(one);
  };
  for (std::size_t i = 1; i < args.size(); ++i) {
    const std::string_view arg = args[i];
    if (arg == "-append" || arg == "--append") {
      ++i;  // the guest's kernel command line is free text from annotations
    } else if (is_telling(arg)) {
      if (i + 1 < args.size()) add(args[i + 1], {arg, args[i + 1]});
      ++i;
    } else if (const auto equals = arg.find('=');
               equals != std::string_view::npos && is_telling(arg.substr(0, equals))) {
      add(arg, {arg.substr(0, equals), arg.substr(equals + 1), true});
    }
  }
  return found;
}

template <class Use>
bool any_value(const std::vector<Telling>& options, std::string_view option, Use use) {
  return std::any_of(options.begin(), options.end(),
                     [&](const Telling& one) { return one.option == option && use(one.value); });
}

/// QEMU takes "-name" and "--name" with the value in the next argument, never "-name=value".
bool named_for(const std::vector<Telling>& options, const SandboxId& id) {
  const std::string wanted = "sandbox-" + id.str();
  return std::any_of(options.begin(), options.end(), [&](const Telling& one) {
    const bool names = one.option == "-name" || one.option == "--name";
    return names && !one.joined && split(one.value, ',').front() == wanted;
  });
}

/// Collects what is kept, within the bounds.
class Kept final {
 public:
  void add(std::string_view arg) {
    if (arg.size() > kLongestArg || size_ + arg.size() > kLongestTelling) return;
    size_ += arg.size();
    args_.emplace_back(arg);
  }
  void add(std::string_view option, std::string_view value) {
    if (value.size() > kLongestArg || size_ + option.size() + value.size() > kLongestTelling)
      return;
    add(option);
    add(value);
  }
  std::vector<std::string> take() { return std::move(args_); }

 private:
  std::vector<std::string> args_;
  std::size_t size_ = 0;
};

void keep_vmm(const std::vector<std::string>& args, Kept& kept) {
  for (const auto& one : telling_options(args)) {
    if (one.joined)
      kept.add(fmt::format("{}={}", one.option, one.value));
    else
      kept.add(one.option, one.value);
  }
}

}  // namespace

std::vector<std::string> telling_args(std::string_view exe, const std::vector<std::string>& args) {
  Kept kept;
  if (args.empty()) return {};
  kept.add(std::string_view(args.front()).substr(0, kLongestArg));
  if (names_kata_shim(exe)) {
    const auto shim = parse_shim(args);
    if (!shim.id.empty()) kept.add("-id", shim.id);
    if (shim.helper) kept.add("start");
  } else if (serves_files(exe)) {
    for (std::size_t i = 1; i < args.size(); ++i)
      if (args[i].find('/') != std::string::npos) kept.add(args[i]);
  } else {
    keep_vmm(args, kept);
  }
  return kept.take();
}

std::optional<std::string> shim_sandbox_id(const ProcFacts& facts) {
  if (facts.kernel_thread || !names_kata_shim(facts.exe)) return std::nullopt;
  const auto shim = parse_shim(facts.args);
  if (shim.helper || shim.id.empty()) return std::nullopt;
  return shim.id;
}

Hypervisor hypervisor_of(const ProcFacts& facts, const SandboxId& id) {
  // A child of the shim that has not executed its program yet carries the shim's arguments.
  if (id.str().empty() || facts.kernel_thread || names_kata_shim(facts.exe))
    return Hypervisor::unknown;
  // Of its arguments only paths are kept, which may look like a VMM's options.
  if (serves_files(facts.exe)) return Hypervisor::unknown;
  const auto program = base_name(facts.exe);
  const auto options = telling_options(facts.args);
  if (named_for(options, id))
    return starts_with(program, "stratovirt") ? Hypervisor::stratovirt : Hypervisor::qemu;
  const auto of_sandbox = [&id](std::string_view value) { return has_component(value, id.str()); };
  if (any_value(options, "--ttrpc", of_sandbox)) return Hypervisor::openvmm;
  if (any_value(options, "--api-socket", of_sandbox))
    return starts_with(program, "openvmm") ? Hypervisor::openvmm : Hypervisor::cloud_hypervisor;
  const std::string short_id = id.str().substr(0, kFirecrackerId);
  const auto by_id = [&](std::string_view value) { return value == short_id; };
  const auto by_path = [&](std::string_view value) { return has_component(value, short_id); };
  if (any_value(options, "--id", by_id) || any_value(options, "--api-sock", by_path))
    return Hypervisor::firecracker;
  return Hypervisor::unknown;
}

bool is_virtiofsd(const ProcFacts& facts, const SandboxId& id) {
  if (facts.kernel_thread || id.str().empty() || !serves_files(facts.exe)) return false;
  return std::any_of(facts.args.begin(), facts.args.end(),
                     [&id](const std::string& arg) { return has_component(arg, id.str()); });
}

}  // namespace kcg
