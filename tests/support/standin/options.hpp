// SPDX-License-Identifier: Apache-2.0
//
// What the shim stand-in was asked to do. Its command line must look exactly like a real shim's,
// because that is what the daemon proves shims by; so everything else comes from the environment.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kcg::standin {

enum class Verb : std::uint8_t { serve, start, remove, control, help };
enum class Guest : std::uint8_t { spin, halt, touch, eat, bios };

/// Value: see the head of the file. The defaults are the ones that the help text names.
struct Options {
  Verb verb = Verb::serve;
  // From the command line, as containerd gives it.
  std::string ns = "k8s.io";
  std::string address = "/run/containerd/containerd.sock";
  std::string id;
  std::string bundle;                  ///< -bundle, else the working directory
  std::vector<std::string> arguments;  ///< --control SOCKET COMMAND...
  // From the environment.
  std::string run_root;
  std::string hierarchy = "auto";
  std::string overhead_root = "/kata_overhead";
  bool sandbox_cgroup_only = true;
  bool self_move = true;
  std::chrono::milliseconds group_delay{20};
  std::chrono::milliseconds move_delay{20};
  std::chrono::milliseconds fork_delay{3};
  std::uint32_t shim_threads = 8;
  bool helper = false;
  std::string helper_program;
  std::string vmm = "/usr/bin/qemu-system-x86_64";
  std::vector<std::string> vmm_arguments;
  std::string accel = "auto";
  std::uint32_t vcpus = 1;
  std::uint32_t max_vcpus = 0;  ///< 0: as vcpus
  bool thread_names = false;
  bool qmp = true;
  Guest guest = Guest::halt;
  std::uint32_t memory_mib = 128;
  bool prealloc = false;
  bool pinning = false;
  std::chrono::milliseconds save_gap{0};
  // For a caller that does not read the environment.
  std::string log_directory;  ///< where VMM and virtiofsd write what they say; "": as we do
};

[[nodiscard]] Result<Options> parse_options(int argc, char** argv);
[[nodiscard]] const char* help_text();
/// "halt", "spin", "touch", "eat" or "bios"
[[nodiscard]] std::optional<Guest> guest_named(std::string_view name);

}  // namespace kcg::standin
