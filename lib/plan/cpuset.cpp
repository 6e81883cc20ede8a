// SPDX-License-Identifier: Apache-2.0
#include "plan/cpuset.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "kernel/cpuset.hpp"

namespace kcg {

namespace {

constexpr const char* kCpus = "cpuset.cpus";
constexpr const char* kMems = "cpuset.mems";
constexpr const char* kAnnotation = "io.katacontainers.config.runtime.enable_vcpus_pinning";

/// As Kata reads a flag (Go's strconv.ParseBool); what it cannot read may well mean yes.
bool says_no(const std::string& text) {
  for (const auto* no : {"0", "f", "F", "false", "FALSE", "False"})
    if (text == no) return true;
  return false;
}

/// False for an empty list, too: it seeds nothing.
bool covers(const std::string& parent, const std::string& list) {
  const auto outer = CpuSet::parse(parent);
  const auto inner = CpuSet::parse(list);
  return outer && inner && !inner->empty() && outer->united(*inner) == *outer;
}

/// The one of Kata's directories that stands in this tree and is not our own.
const GroupState* katas(const Observed& observed, const LayoutDecision& decision,
                        const LayoutPaths& paths, const Hierarchy& h) {
  for (const auto& path : kata_paths(observed.inputs.id, decision.path)) {
    const auto* state = observed.group({h.name, path});
    if (state == nullptr) continue;
    const bool used = path == paths.sandbox || path == paths.overhead;
    if (!used || state->mark != observed.inputs.id.str()) return state;
  }
  return nullptr;
}

}  // namespace

Pinning kata_pins(const SandboxInputs& inputs) {
  const auto& annotation = inputs.bundle ? inputs.bundle->pinning_annotation : std::nullopt;
  if (annotation && !says_no(*annotation))
    return {true, fmt::format("annotation {} in {}/config.json", kAnnotation,
                              escaped(inputs.bundle->directory, 256))};
  if (inputs.kata && inputs.kata->vcpus_pinning)
    return {*inputs.kata->vcpus_pinning, inputs.kata->place()};
  if (inputs.kata_config_pins)
    return {*inputs.kata_config_pins, "Kata's " + inputs.kata_config_pins_where};
  if (annotation)
    return {false, fmt::format("annotation {} in {}/config.json", kAnnotation,
                               escaped(inputs.bundle->directory, 256))};
  return {true, "neither Kata's state nor its configuration can be read: it may"};
}

bool left_to_kata(const Observed& observed, const LayoutDecision& decision,
                  const LayoutPaths& paths, const Hierarchy& h) {
  if (h.unified || !h.has("cpuset")) return false;
  if (observed.assumed) return true;
  if (katas(observed, decision, paths, h) != nullptr) return true;
  if (vmm_started(observed)) return false;
  // Before the VMM is executed Kata may not have made its groups yet, after its end they are gone.
  const auto* ours = observed.group({h.name, paths.sandbox});
  return !observed.fixed || ours == nullptr || ours->mark != observed.inputs.id.str();
}

// --- v2 ---

const GroupState* CpuSeeds::kata_group(const Hierarchy& h) const {
  for (const auto& path : kata_paths(observed_.inputs.id, decision_.path)) {
    if (path.parent() != decision_.path.pod && !path.within(decision_.path.full)) continue;
    const auto* state = observed_.group({h.name, path});
    if (state != nullptr && path != paths_.sandbox) return state;
  }
  return nullptr;
}

/// What Kata's group has, "" for all CPUs; where there is none, what the containers ask for.
/// nullopt: nobody says, as when Kata's group went before ours: what stands there stays.
std::optional<std::string> CpuSeeds::wish(const Hierarchy& h) const {
  if (const auto* kata = kata_group(h)) return kata->file(kCpus).value_or("");
  if (!sizing_.cpus.empty()) return sizing_.cpus;
  return std::nullopt;
}

/// A thread that Kata may pin sits there: any of the VMM's that is not known to do I/O. Where no
/// VMM is seen it may be inside the shim.
bool CpuSeeds::holds_pinnable(const Hierarchy& h, const CgroupPath& group) const {
  const auto& all = observed_.host.hierarchies;
  const auto index = static_cast<std::size_t>(
      std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == h.name; }) -
      all.begin());
  for (const auto& process : observed_.processes) {
    if (process.role != ProcessRole::vmm && process.role != ProcessRole::shim) continue;
    for (const auto& thread : process.threads) {
      const bool pinnable = thread.cls == ThreadClass::vcpu ||
                            (process.role == ProcessRole::vmm && thread.cls != ThreadClass::io);
      const auto& groups = thread.facts.groups;
      if (pinnable && index < groups.size() && groups[index] == group.str()) return true;
    }
  }
  return false;
}

std::string CpuSeeds::now(const WantedGroup& group, const char* file) const {
  const auto* state = observed_.group(group.ref);
  return state == nullptr ? "" : state->file(file).value_or("");
}

void CpuSeeds::unified_top(const Hierarchy& h, WantedGroup& into) const {
  pins_ ? open(h, into) : follow(h, into);
}

void CpuSeeds::unified_class(const Hierarchy& h, ThreadClass cls, WantedGroup& into) const {
  if (cls != ThreadClass::io && cls != ThreadClass::shim) return;  // never had a list
  if (!pins_ || holds_pinnable(h, into.ref.path)) return open(h, into);
  // The VMM is born in the shim's group.
  if (cls == ThreadClass::shim && observed_.first(ProcessRole::vmm) == nullptr) return;
  follow(h, into);
}

void CpuSeeds::follow(const Hierarchy& h, WantedGroup& into) const {
  const auto list = wish(h);
  if (!list) return;
  if (list->empty()) return open(h, into);
  add(into, kCpus, *list);
}

/// As wide as what is above it. A list cannot be taken from a group with members: such a one gets
/// all that there is, and keeps what it has, should a CPU be off line just now.
void CpuSeeds::open(const Hierarchy& h, WantedGroup& into) const {
  const auto have = CpuSet::parse(now(into, kCpus));
  if (!have || have->empty()) return;
  std::string all;
  for (const auto& above : {CgroupPath(), into.ref.path.parent()}) {
    const auto* state = observed_.group({h.name, above});
    if (all.empty() && state != nullptr) all = state->file("cpuset.cpus.effective").value_or("");
  }
  if (const auto every = CpuSet::parse(all)) add(into, kCpus, have->united(*every).str());
}

// --- v1 ---

void CpuSeeds::v1_top(const Hierarchy& h, WantedGroup& into) const {
  if (!h.has("cpuset")) return;
  const auto* parent = nearest_existing(h, into.ref.path.parent());
  for (const auto* file : {kCpus, kMems}) {
    const auto above = parent == nullptr ? "" : parent->file(file).value_or("");
    const bool cpus = std::string_view(file) == kCpus;
    const auto& list = cpus ? sizing_.cpus : sizing_.mems;
    if (cpus && pins_)
      widen(into, file, above);
    else
      add(into, file, covers(above, list) ? list : above);
  }
}

void CpuSeeds::v1_class(const Hierarchy& h, ThreadClass cls, const WantedGroup& top,
                        WantedGroup& into) const {
  if (!h.has("cpuset")) return;
  const bool follows = cls == ThreadClass::io ||
                       (cls == ThreadClass::shim && observed_.first(ProcessRole::vmm) != nullptr);
  const bool narrow = pins_ && follows && !holds_pinnable(h, into.ref.path);
  for (const auto* file : {kCpus, kMems}) {
    const auto seed = std::find_if(top.seeds.begin(), top.seeds.end(),
                                   [&](const WantedFile& one) { return one.key == file; });
    const auto above = seed == top.seeds.end() ? now(top, file) : seed->value;
    const bool cpus = std::string_view(file) == kCpus;
    if (!cpus || !pins_)
      add(into, file, above);
    else if (narrow)
      add(into, file, covers(above, sizing_.cpus) ? sizing_.cpus : above);
    else
      widen(into, file, above);
  }
}

void CpuSeeds::as_wide_as(const Hierarchy& h, const CgroupPath& above, WantedGroup& into) const {
  const auto* state = nearest_existing(h, above);
  if (h.unified || !h.has("cpuset") || state == nullptr) return;  // v2: inherited
  for (const auto* file : {kCpus, kMems}) widen(into, file, state->file(file).value_or(""));
}

/// Nothing is taken away.
void CpuSeeds::widen(WantedGroup& into, const char* file, const std::string& value) const {
  const auto have = CpuSet::parse(now(into, file));
  const auto more = CpuSet::parse(value);
  if (have && more && have->united(*more) != *have) add(into, file, have->united(*more).str());
}

/// What Kata made, or what all sandboxes share, is filled only where it is empty.
void CpuSeeds::add(WantedGroup& into, const char* file, const std::string& value) const {
  const bool others = into.katas || into.shared;
  if (!value.empty() && !(others && !now(into, file).empty())) into.seeds.push_back({file, value});
}

const GroupState* CpuSeeds::nearest_existing(const Hierarchy& h, CgroupPath path) const {
  for (;;) {
    const auto* state = observed_.group({h.name, path});
    if (state != nullptr || path.is_root()) return state;
    path = path.parent();
  }
}

// --- explain ---

std::optional<Explanation> explain_cpus(const Observed& observed, const LayoutDecision& decision,
                                        const LayoutPaths& paths) {
  const auto& all = observed.host.hierarchies;
  const auto h =
      std::find_if(all.begin(), all.end(), [](const auto& one) { return one.has("cpuset"); });
  if (h == all.end()) return std::nullopt;
  const auto pinning = kata_pins(observed.inputs);
  const auto* kata = katas(observed, decision, paths, *h);
  Explanation e;
  e.subject = "CPUs";
  e.path = kata == nullptr ? paths.sandbox.str() : kata->ref.path.str();
  e.value = e.path;
  if (left_to_kata(observed, decision, paths, *h))
    e.formula = "left to Kata: its own cpuset group governs the CPUs, ours have none";
  else if (!h->unified)
    e.formula = "Kata made no cpuset group: ours get the CPUs of the containers";
  else if (decision.chosen.form == Form::nested)
    e.formula = "inherited from Kata's scope";
  else if (pinning.pins)
    e.formula =
        "Kata pins vCPUs: only 'io' and 'shim' follow Kata's group, the rest stays as wide "
        "as the pod's, for sched_setaffinity to succeed";
  else
    e.formula = "the sandbox group follows Kata's group";
  e.inputs = {{"Kata pins vCPUs", pinning.pins ? "true" : "false", pinning.source}};
  e.change = "Kata's [runtime] enable_vcpus_pinning, before the VMM starts";
  return e;
}

}  // namespace kcg
