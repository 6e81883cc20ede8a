// SPDX-License-Identifier: Apache-2.0
//
// One sandbox on the test's node: its pod's groups, its bundle, its shim stand-in and what that
// starts.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/live/bundle.hpp"
#include "support/live/child.hpp"
#include "support/live/groups.hpp"

namespace kcg::live {

/// Value: what kind of sandbox. `standin` are STANDIN_ variables without the prefix.
struct SandboxSpec {
  std::string id = {};  ///< "": 64 random hex digits
  std::string pod = "pod11111111-2222-3333-4444-555555555555";
  bool names = false;  ///< of threads; without KVM they always have them
  bool light = false;  ///< the light VMM instead of QEMU
  int vcpus = 1;
  std::map<std::string, std::string> standin = {};
  std::map<std::string, std::string> annotations = {};
};

/// Value: threads by class, as the VMM itself says.
struct Truth {
  int shim = 0;
  int vmm = 0;
  std::vector<int> helpers;  ///< virtiofsd and its child
  std::set<int> vcpus;
  std::set<int> ios;
};

/// Resource: see the head of the file. Ends its processes.
class Sandbox final {
 public:
  /// Makes pod groups and bundle; nothing runs yet.
  Sandbox(const Corner& corner, const std::string& run_root, SandboxSpec spec);
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  [[nodiscard]] const std::string& id() const { return spec_.id; }
  [[nodiscard]] const SandboxSpec& spec() const { return spec_; }
  [[nodiscard]] std::string bundle() const { return bundle_directory(run_root_, spec_.id); }
  [[nodiscard]] const std::string& pod_group() const { return pod_; }
  [[nodiscard]] const std::string& run_root() const { return run_root_; }
  /// Where the daemon must put it, and what Kata made beside it.
  [[nodiscard]] std::string group() const { return pod_ + "/kata-sandbox-" + spec_.id; }
  [[nodiscard]] std::string kata_group() const { return pod_ + "/kata_" + spec_.id; }
  [[nodiscard]] const Corner& corner() const { return corner_; }

  /// How the long-lived shim is started; some tests change it.
  [[nodiscard]] Command shim_command() const;
  /// Starts the shim; returns at once.
  void start();
  /// Blocks until the shim has started the VMM and it has all its threads, then asks for
  /// everything.
  [[nodiscard]] Truth truth() const;
  /// Text after "ok"; throws on an error.
  std::string ask(const std::string& command) const;
  [[nodiscard]] Child& shim() { return *shim_; }
  /// "exit" to the shim, then the bundle goes, as containerd does it.
  void end();
  /// The bundle; again when an id returns: end(), write_files(), start().
  void write_files() const;
  void remove_files() const;

  /// A container as the engine and Kata make one: its bundle, create, start.
  void run_container(const ContainerSpec& container) const;
  /// It exits and is removed: Kata forgets it before the engine removes its bundle.
  void end_container(const std::string& id) const;

 private:
  const Corner& corner_;
  std::string run_root_;
  SandboxSpec spec_;
  std::string pod_;
  std::optional<Child> shim_;
};

}  // namespace kcg::live
