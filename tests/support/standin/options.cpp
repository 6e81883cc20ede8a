// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.hpp"

namespace kcg::standin {

namespace {

const char* const kHelp =
    R"(containerd-shim-kata-v2: a stand-in for Kata's shim. It runs no container, but makes groups,
moves itself, forks a real QEMU and writes Kata's state as the real one does.

  containerd-shim-kata-v2 -namespace k8s.io -address SOCKET -publish-binary "" -id ID
        serves one sandbox in the foreground; the working directory is its bundle, whose
        config.json gives the cgroupsPath (cgroupfs form). SIGTERM ends it orderly.
  ... -id ID start          starts the above in the background, writes shim.pid, prints the
                            control socket
  ... -id ID -bundle DIR delete   ends what a dead shim left: VMM, groups, state
  containerd-shim-kata-v2 --control SOCKET COMMAND...   one command; prints the answer
  containerd-shim-kata-v2 --help

Commands: status | threads | pullback-vcpus | pullback-vmm | move-self | make-groups | remove-groups |
  kill-vmm | start-helper | hotplug | cpuset LIST | open-device PATH | fill-memory MIB | save | die-first
  create ID       a container of the sandbox, from the bundle ID beside ours
  start ID | stop ID   its process begins; has exited (its state says so, it still counts)
  update ID [cpus=LIST] [quota=US] [memory=BYTES]   changes its resources
  delete ID       Kata forgets it; its bundle is for the caller to remove, before or after
    Create, update and delete write the union of the containers' CPUs into Kata's cpuset, attach the
    vCPUs anew (STANDIN_CGROUP_ONLY=0), and pin them (STANDIN_PINNING=1): the command fails as
    Kata's call does. With pinning Kata's delete of the last container that names CPUs fails.
  end STEP...     an end in any order: vmm (killed) | leave (the shim leaves Kata's group) | groups
                  | state (Kata's files below /run, with the control socket) | die (the shim exits,
                  without an answer). Without die the shim lives on.
  exit            end vmm leave groups state; then it answers and exits
  The control socket is RUN_ROOT/run/vc/sbs/ID/shim-monitor.sock; it answers "ok ..." or
  "error ..." once the VMM was started. SIGTERM is "exit". An id may be used again at once.

Environment (default):
  STANDIN_RUN_ROOT=DIR        put before every /run path ()
  STANDIN_HIERARCHY=auto      v1 | v2 | auto: v1 where its controllers are mounted
  STANDIN_CGROUP_ONLY=1       0: as sandbox_cgroup_only=false
  STANDIN_OVERHEAD_ROOT=/kata_overhead   where 0 above puts the shim
  STANDIN_SELF_MOVE=1         0: never moves itself
  STANDIN_GROUP_DELAY_MS=20   from its start to making Kata's group
  STANDIN_MOVE_DELAY_MS=20    from there to moving itself
  STANDIN_FORK_DELAY_MS=3     from there to forking the VMM
  STANDIN_THREADS=8           threads beside the main one
  STANDIN_HELPER=0            1: a virtiofsd child and grandchild
  STANDIN_VIRTIOFSD=PATH      its program (virtiofsd beside this program)
  STANDIN_VMM=/usr/bin/qemu-system-x86_64
  STANDIN_VMM_ARGS=           more arguments for it, separated by blanks
  STANDIN_ACCEL=auto          kvm | tcg | auto: KVM where /dev/kvm opens
  STANDIN_VCPUS=1  STANDIN_MAX_VCPUS=STANDIN_VCPUS
  STANDIN_THREAD_NAMES=0      1: debug-threads=on (needed to classify under TCG)
  STANDIN_GUEST=halt          spin: every vCPU busy | halt: idle | touch: writes to every page of
                              its memory, then halts | eat: does so for ever |
                              bios: QEMU's own firmware
  STANDIN_MEMORY_MIB=128      default_memory: what the VM has at boot
  STANDIN_PREALLOC=0          1: as enable_mem_prealloc
  STANDIN_PINNING=0           1: as enable_vcpus_pinning
  STANDIN_SAVE_GAP_MS=0       how long persist.json is empty, and then half, at each of its changes
                              (it is truncated and rewritten in place)
  STANDIN_QMP=1               0: the program has no QMP (light stand-in of a VMM)
  STANDIN_KVM=                set: the vCPUs of a light stand-in are KVM's
  STANDIN_LATE_VCPU=          set: it has one vCPU more, without a name, which runs at SIGWINCH
  STANDIN_WORKERS=            set: each SIGWINCH has it start a thread without a name
)";

std::optional<std::string> env(const char* name) {
  const char* const text = std::getenv(name);
  return text ? std::optional<std::string>(text) : std::nullopt;
}

void take(const char* name, std::string& into) {
  if (auto text = env(name)) into = *text;
}

Status take(const char* name, bool& into) {
  const auto text = env(name);
  if (!text) return {};
  if (*text != "0" && *text != "1") return fail(0, "{}={}: must be 0 or 1", name, *text);
  into = *text == "1";
  return {};
}

Result<std::uint32_t> number(const char* name, std::uint32_t otherwise) {
  const auto text = env(name);
  if (!text) return otherwise;
  const auto value = parse_u64(*text);
  if (!value || *value > 1'000'000) return fail(0, "{}={}: not a small number", name, *text);
  return static_cast<std::uint32_t>(*value);
}

Status take(const char* name, std::uint32_t& into) {
  auto value = number(name, into);
  if (!value) return forward(value.error());
  into = *value;
  return {};
}

Status take(const char* name, std::chrono::milliseconds& into) {
  auto value = number(name, static_cast<std::uint32_t>(into.count()));
  if (!value) return forward(value.error());
  into = std::chrono::milliseconds(*value);
  return {};
}

Status take_guest(Guest& into) {
  const auto text = env("STANDIN_GUEST");
  if (!text) return {};
  const auto guest = guest_named(*text);
  if (!guest) return fail(0, "STANDIN_GUEST={}: must be spin, halt, touch, eat or bios", *text);
  into = *guest;
  return {};
}

std::string beside_us(const char* program) {
  std::error_code ignored;  // without /proc the name alone is looked up where we stand
  const auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return self.parent_path() / program;
}

Status take_environment(Options& o) {
  take("STANDIN_RUN_ROOT", o.run_root);
  take("STANDIN_HIERARCHY", o.hierarchy);
  take("STANDIN_OVERHEAD_ROOT", o.overhead_root);
  take("STANDIN_VMM", o.vmm);
  take("STANDIN_ACCEL", o.accel);
  o.helper_program = beside_us("virtiofsd");
  take("STANDIN_VIRTIOFSD", o.helper_program);
  if (const auto more = env("STANDIN_VMM_ARGS"))
    for (const auto word : words(*more)) o.vmm_arguments.emplace_back(word);
  for (const auto& status :
       {take("STANDIN_CGROUP_ONLY", o.sandbox_cgroup_only), take("STANDIN_SELF_MOVE", o.self_move),
        take("STANDIN_GROUP_DELAY_MS", o.group_delay), take("STANDIN_MOVE_DELAY_MS", o.move_delay),
        take("STANDIN_FORK_DELAY_MS", o.fork_delay), take("STANDIN_THREADS", o.shim_threads),
        take("STANDIN_HELPER", o.helper), take("STANDIN_VCPUS", o.vcpus),
        take("STANDIN_MAX_VCPUS", o.max_vcpus), take("STANDIN_THREAD_NAMES", o.thread_names),
        take("STANDIN_QMP", o.qmp), take_guest(o.guest), take("STANDIN_MEMORY_MIB", o.memory_mib),
        take("STANDIN_PREALLOC", o.prealloc), take("STANDIN_PINNING", o.pinning),
        take("STANDIN_SAVE_GAP_MS", o.save_gap)})
    if (!status) return forward(status.error());
  if (o.max_vcpus == 0) o.max_vcpus = o.vcpus;
  if (o.vcpus == 0 || o.max_vcpus < o.vcpus)
    return fail(0, "STANDIN_VCPUS={}, STANDIN_MAX_VCPUS={}: impossible", o.vcpus, o.max_vcpus);
  return {};
}

Status take_arguments(int argc, char** argv, Options& o) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto value = [&]() -> std::string { return i + 1 < argc ? argv[++i] : ""; };
    if (word == "-namespace") {
      o.ns = value();
    } else if (word == "-id") {
      o.id = value();
    } else if (word == "-bundle") {
      o.bundle = value();
    } else if (word == "-address") {
      o.address = value();
    } else if (word == "-publish-binary") {
      (void)value();  // ignored: there is no containerd to tell
    } else if (word == "start") {
      o.verb = Verb::start;
    } else if (word == "delete") {
      o.verb = Verb::remove;
    } else {
      return fail(0, "{}: unknown argument, see --help", word);
    }
  }
  if (o.id.empty()) return fail(0, "-id is missing, see --help");
  return {};
}

}  // namespace

const char* help_text() { return kHelp; }

std::optional<Guest> guest_named(std::string_view name) {
  for (const auto& [known, guest] : {std::pair("halt", Guest::halt), std::pair("spin", Guest::spin),
                                     std::pair("touch", Guest::touch), std::pair("eat", Guest::eat),
                                     std::pair("bios", Guest::bios)})
    if (name == known) return guest;
  return std::nullopt;
}

Result<Options> parse_options(int argc, char** argv) {
  Options o;
  const std::string_view first = argc > 1 ? argv[1] : "--help";
  if (first == "--help" || first == "-h") {
    o.verb = Verb::help;
    return o;
  }
  if (first == "--control") {
    if (argc < 4) return fail(0, "--control needs a socket and a command, see --help");
    o.verb = Verb::control;
    o.arguments.assign(argv + 2, argv + argc);
    return o;
  }
  if (auto done = take_arguments(argc, argv, o); !done) return forward(done.error());
  if (auto done = take_environment(o); !done) return forward(done.error());
  if (o.bundle.empty()) {
    std::error_code failed;
    o.bundle = std::filesystem::current_path(failed);
    if (failed) return fail(failed.value(), "working directory: {}", failed.message());
  }
  return o;
}

}  // namespace kcg::standin
