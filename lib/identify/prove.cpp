// SPDX-License-Identifier: Apache-2.0
//
// Proof runs downward: one process is proven to be the shim by what no container can forge (root
// user, our namespaces, our root directory, the bundle as working directory), and its descendants
// are proven by ancestry. Command lines only say which role a proven process has.
#include "identify/prove.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "identify/recognise.hpp"

namespace kcg {

namespace {

bool is_directory(std::string_view link, std::string_view directory) {
  return without_deleted(link) == directory;
}

/// The directory itself counts, and its path only where nobody has looked at it.
bool works_in(const ProcFacts& facts, const Bundle& bundle) {
  if (bundle.directory_id) return facts.cwd_id == bundle.directory_id;
  return is_directory(facts.cwd, bundle.directory);
}

/// What a container cannot forge; nullopt: all is as a shim must be.
std::optional<std::string> bundle_standing_problem(const ProcFacts& facts, const Bundle& bundle) {
  if (auto problem = node_problem(facts)) return problem;
  if (!works_in(facts, bundle))
    return fmt::format("its working directory is {}, not the bundle {}", escaped(facts.cwd, 256),
                       escaped(bundle.directory, 256));
  return std::nullopt;
}

/// Is it the shim of `bundle`? `kata`: the bundle is known to be Kata's, so its pid file counts
/// even if the program has a name of its own.
std::optional<std::string> bundle_shim_problem(const ProcFacts& facts, const Bundle& bundle,
                                               bool kata) {
  if (auto problem = bundle_standing_problem(facts, bundle)) return problem;
  if (names_other_shim(facts.exe)) return "its program belongs to another runtime";
  const bool by_file = bundle.shim_pid == facts.key.pid;
  if (!names_kata_shim(facts.exe)) {
    if (by_file && kata) return std::nullopt;
    return "neither its program nor the bundle's shim.pid says that it is the shim";
  }
  if (!facts.args_unknown.empty()) {
    if (by_file) return std::nullopt;
    return "its arguments are not known: " + facts.args_unknown;
  }
  const auto id = shim_sandbox_id(facts);
  if (!id) return "its arguments are those of a short-lived helper";
  if (*id != bundle.id) return fmt::format("its -id is {}", escaped(*id));
  return std::nullopt;
}

/// Value: one candidate with what is known about it so far.
struct Node {
  const ProcFacts* facts = nullptr;
  const Node* parent = nullptr;  ///< nullptr: unknown, or not credible
  const Trusted* trusted = nullptr;
  bool resolved = false;
  bool proven = false;
  bool below_vmm = false;
  ProcessRole role = ProcessRole::descendant;
  Hypervisor hypervisor = Hypervisor::unknown;
};

/// What the program's name says; for a VMM that a privileged caller named.
Hypervisor hypervisor_named(const ProcFacts& facts) {
  const std::string_view exe = facts.exe;
  const auto program = exe.substr(exe.rfind('/') + 1);
  constexpr std::pair<std::string_view, Hypervisor> kPrograms[] = {
      {"qemu", Hypervisor::qemu},
      {"stratovirt", Hypervisor::stratovirt},
      {"cloud-hypervisor", Hypervisor::cloud_hypervisor},
      {"openvmm", Hypervisor::openvmm},
      {"firecracker", Hypervisor::firecracker}};
  for (const auto& [prefix, hypervisor] : kPrograms)
    if (program.substr(0, prefix.size()) == prefix) return hypervisor;
  return Hypervisor::unknown;
}

/// Resource-free helper: the candidates as a forest.
class Family final {
 public:
  Family(const SandboxInputs& inputs, const std::vector<ProcFacts>& candidates,
         const FlatSet<Trusted>& trusted)
      : inputs_(inputs) {
    for (const auto& facts : candidates)
      if (!facts.kernel_thread) nodes_[facts.key.pid].facts = &facts;
    for (auto& [pid, node] : nodes_) link(node);
    for (const auto& one : trusted) {
      const auto it = nodes_.find(one.key.pid);
      if (it == nodes_.end() || it->second.facts->key != one.key) continue;
      if (it->second.trusted == nullptr)
        it->second.trusted = &one;  // the set has the best role first
    }
    shim_ = choose_shim();
  }

  std::vector<Process> resolve() {
    for (auto& [pid, node] : nodes_) resolve(node);
    std::vector<const Node*> proven;
    for (const auto& [pid, node] : nodes_)
      if (node.proven) proven.push_back(&node);
    std::stable_sort(proven.begin(), proven.end(),
                     [this](const Node* a, const Node* b) { return rank(*a) < rank(*b); });
    std::vector<Process> out;
    out.reserve(proven.size());
    for (const auto* node : proven) out.push_back({*node->facts, node->role, node->hypervisor, {}});
    return out;
  }

 private:
  /// A parent that is younger than its child is another process with a reused pid.
  void link(Node& node) {
    const auto it = nodes_.find(node.facts->ppid);
    if (it == nodes_.end() || &it->second == &node) return;
    if (it->second.facts->key.start <= node.facts->key.start) node.parent = &it->second;
  }

  bool below(const Node& node, const Node& above) const {
    const Node* at = node.parent;
    for (std::size_t i = 0; at != nullptr && i < nodes_.size(); ++i, at = at->parent)
      if (at == &above) return true;
    return false;
  }

  /// Of all that pass as the shim: the one that somebody vouched for, and never a child of another
  /// one, which is a fork that has not executed its program yet.
  const Node* choose_shim() const {
    const Node* best = nullptr;
    for (const auto& [pid, node] : nodes_) {
      const bool kept = node.trusted != nullptr && node.trusted->role == ProcessRole::shim;
      if (!kept && shim_problem(*node.facts, inputs_)) continue;
      if (best == nullptr || preferred(node, *best)) best = &node;
    }
    return best;
  }

  bool preferred(const Node& a, const Node& b) const {
    if (vouched(a) != vouched(b)) return vouched(a) > vouched(b);
    if (below(a, b) || below(b, a)) return below(b, a);
    return a.facts->key.start < b.facts->key.start;
  }

  int vouched(const Node& node) const {
    const auto& key = node.facts->key;
    if (inputs_.registration && inputs_.registration->shim == key) return 3;
    if (node.trusted != nullptr && node.trusted->role == ProcessRole::shim) return 2;
    return inputs_.bundle && inputs_.bundle->shim_pid == key.pid ? 1 : 0;
  }

  /// A runtime with one shim per container: the container's own bundle proves it the same way.
  bool container_shim(const ProcFacts& facts) const {
    return std::any_of(inputs_.containers.begin(), inputs_.containers.end(), [&](const Bundle& b) {
      return b.id != inputs_.id.str() && !bundle_shim_problem(facts, b, false);
    });
  }

  /// Parents first, without recursion: ancestries may be long, and stale ones may be circular.
  void resolve(Node& node) {
    std::vector<Node*> line;
    for (Node* at = &node; at != nullptr && !at->resolved;) {
      at->resolved = true;
      line.push_back(at);
      at = at->parent == nullptr ? nullptr : &nodes_.at(at->parent->facts->key.pid);
    }
    for (auto it = line.rbegin(); it != line.rend(); ++it) judge(**it);
  }

  void judge(Node& node) const {
    const auto& facts = *node.facts;
    const Node* parent = node.parent != nullptr && node.parent->proven ? node.parent : nullptr;
    const bool registered_vmm = inputs_.registration && inputs_.registration->vmm == facts.key;
    node.below_vmm = parent != nullptr && (parent->below_vmm || parent->role == ProcessRole::vmm);
    if (&node == shim_ || (parent == nullptr && container_shim(facts))) {
      node.role = ProcessRole::shim;
      if (&node == shim_ && inputs_.kata && inputs_.kata->hypervisor == "dragonball")
        node.hypervisor = Hypervisor::dragonball;
    } else if (registered_vmm) {
      node.role = ProcessRole::vmm;
    } else if (parent != nullptr || node.trusted != nullptr) {
      node.role = role_of(node, parent);
    } else {
      return;
    }
    node.proven = true;
    if (node.role == ProcessRole::vmm) node.hypervisor = hypervisor(node);
  }

  ProcessRole role_of(const Node& node, const Node* parent) const {
    if (!node.below_vmm && hypervisor_of(*node.facts, inputs_.id) != Hypervisor::unknown)
      return ProcessRole::vmm;
    const bool serves = parent != nullptr && (parent->role == ProcessRole::shim ||
                                              parent->role == ProcessRole::virtiofsd);
    if (serves && is_virtiofsd(*node.facts, inputs_.id)) return ProcessRole::virtiofsd;
    return node.trusted != nullptr ? node.trusted->role : ProcessRole::descendant;
  }

  Hypervisor hypervisor(const Node& node) const {
    const auto by_arguments = hypervisor_of(*node.facts, inputs_.id);
    if (by_arguments != Hypervisor::unknown) return by_arguments;
    if (node.trusted != nullptr && node.trusted->hypervisor != Hypervisor::unknown)
      return node.trusted->hypervisor;
    return hypervisor_named(*node.facts);
  }

  int rank(const Node& node) const {
    if (&node == shim_) return 0;
    return node.role == ProcessRole::vmm ? 1 : 2;
  }

  const SandboxInputs& inputs_;
  std::map<Pid, Node> nodes_;
  const Node* shim_ = nullptr;
};

}  // namespace

std::optional<std::string> node_problem(const ProcFacts& facts) {
  if (facts.kernel_thread) return "it is a kernel thread";
  if (facts.real_uid != 0) return fmt::format("its user is {}, not root", facts.real_uid);
  if (!facts.same_pid_ns) return "it is in another pid namespace";
  if (!facts.same_user_ns) return "it is in another user namespace";
  if (!facts.same_root) return "its root directory is not the node's";
  return std::nullopt;
}

std::optional<std::string> standing_problem(const ProcFacts& facts, const SandboxInputs& inputs) {
  if (facts.kernel_thread) return "it is a kernel thread";
  const auto& given = inputs.registration;
  if (given && (given->shim == facts.key || given->vmm == facts.key)) return std::nullopt;
  const auto at_home = [&](const Bundle& bundle) {
    return !bundle_standing_problem(facts, bundle);
  };
  if (std::any_of(inputs.containers.begin(), inputs.containers.end(), at_home)) return std::nullopt;
  if (!inputs.bundle) return "there is no bundle to compare it with";
  return bundle_standing_problem(facts, *inputs.bundle);
}

std::optional<std::string> shim_problem(const ProcFacts& facts, const SandboxInputs& inputs) {
  if (facts.kernel_thread) return "it is a kernel thread";
  if (inputs.registration && inputs.registration->shim == facts.key) return std::nullopt;
  if (!inputs.bundle) return "there is no bundle to compare it with";
  return bundle_shim_problem(facts, *inputs.bundle, proves_kata(inputs));
}

std::vector<Process> prove(const SandboxInputs& inputs, const std::vector<ProcFacts>& candidates,
                           const FlatSet<Trusted>& trusted) {
  return Family(inputs, candidates, trusted).resolve();
}

}  // namespace kcg
