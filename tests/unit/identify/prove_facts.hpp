// SPDX-License-Identifier: Apache-2.0
//
// Processes of one sandbox as /proc shows them.
#pragma once

#include <gtest/gtest.h>

#include "identify/prove.hpp"

namespace kcg {

inline constexpr const char* kId =
    "0cb619b857a88e4c469a22c6afae6a66aa6de0f21c035216d81a5a85dc857cce";
inline constexpr const char* kShort = "0cb619b857a88e4c469a22c6afae6a66";
inline constexpr const char* kBundle = "/run/bundles/k8s.io/id";
inline constexpr const char* kShim = "/opt/kata/bin/containerd-shim-kata-v2";
inline constexpr const char* kQemu = "/usr/bin/qemu-system-x86_64";

using Args = std::vector<std::string>;

inline SandboxId id() { return SandboxId::parse(kId).value(); }

/// "$" in an argument stands for the id, "%" for its first 32 characters.
inline Args expand(Args args) {
  for (auto& arg : args) {
    if (const auto at = arg.find('$'); at != std::string::npos) arg.replace(at, 1, kId);
    if (const auto at = arg.find('%'); at != std::string::npos) arg.replace(at, 1, kShort);
  }
  return args;
}

inline ProcFacts process(Pid pid, Pid ppid, std::string exe, Args args) {
  ProcFacts facts;
  facts.key = {pid, static_cast<std::uint64_t>(pid) * 10};
  facts.ppid = ppid;
  facts.exe = std::move(exe);
  facts.args = expand(std::move(args));
  facts.cwd = "/";
  facts.same_pid_ns = facts.same_user_ns = facts.same_root = true;
  return facts;
}

inline ProcFacts shim(Pid pid, Pid ppid = 1) {
  auto facts = process(pid, ppid, kShim,
                       {kShim, "-namespace", "k8s.io", "-address", "/run/c.sock", "-publish-binary",
                        "", "-id", "$"});
  facts.cwd = kBundle;
  return facts;
}

inline ProcFacts qemu(Pid pid, Pid ppid) {
  return process(pid, ppid, kQemu, {kQemu, "-name", "sandbox-$", "-uuid", "u", "-m", "512M"});
}

inline ProcFacts virtiofsd(Pid pid, Pid ppid) {
  return process(pid, ppid, "/usr/libexec/virtiofsd",
                 {"virtiofsd", "--shared-dir=/run/kata-containers/shared/sandboxes/$/shared"});
}

inline SandboxInputs inputs() {
  SandboxInputs out;
  out.id = id();
  out.bundle = Bundle();
  out.bundle->id = out.bundle->sandbox_id = kId;
  out.bundle->directory = kBundle;
  out.bundle->type = BundleType::sandbox;
  return out;
}

/// "10 shim, 20 vmm qemu, ..." in the order of the answer.
inline std::string told(const std::vector<Process>& processes) {
  std::string out;
  for (const auto& p : processes) {
    if (!out.empty()) out += ", ";
    out += std::to_string(p.facts.key.pid) + " " + std::string(name(p.role));
    if (p.hypervisor != Hypervisor::unknown) out += " " + std::string(name(p.hypervisor));
  }
  return out;
}

}  // namespace kcg
