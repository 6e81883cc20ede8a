// SPDX-License-Identifier: Apache-2.0
//
// What is kept packed (base/packed), field by field (L1). A field more in one of these structs, and
// it does not compile until it is named here.
#pragma once

#include "base/clock.hpp"
#include "base/packed.hpp"
#include "model/bundle.hpp"
#include "model/process.hpp"
#include "model/sandbox_history.hpp"
#include "model/standing.hpp"
#include "model/view.hpp"

namespace kcg {

template <class Bytes, PartLike<TaskKey> Part>
void fields(Bytes& bytes, Part& part) {
  auto& [pid, start] = part;
  bytes(pid, start);
}

template <class Bytes, PartLike<Instant> Part>
void fields(Bytes& bytes, Part& part) {
  auto count = part.count();
  bytes(count);
  if constexpr (!std::is_const_v<Part>) part = Instant(count);
}

template <class Bytes, PartLike<FileId> Part>
void fields(Bytes& bytes, Part& part) {
  auto& [device, inode] = part;
  bytes(device, inode);
}

template <class Bytes, PartLike<CgroupPath> Part>
void fields(Bytes& bytes, Part& part) {
  std::string text(part.str());
  bytes(text);
  if constexpr (!std::is_const_v<Part>) part = CgroupPath::parse(text).value_or(CgroupPath());
}

template <class Bytes, PartLike<HierarchyName> Part>
void fields(Bytes& bytes, Part& part) {
  std::string text = part.str();
  bytes(text);
  if constexpr (!std::is_const_v<Part>) part = text;
}

template <class Bytes, PartLike<GroupRef> Part>
void fields(Bytes& bytes, Part& part) {
  auto& [hierarchy, path] = part;
  bytes(hierarchy, path);
}

template <class Bytes, PartLike<ProcFacts> Part>
void fields(Bytes& bytes, Part& part) {
  auto& [key, ppid, comm, exe, args, unknown, cwd, cwd_id, uid, pid_ns, user_ns, root, kernel] =
      part;
  bytes(key, ppid, comm, exe, args, unknown, cwd, cwd_id, uid, pid_ns, user_ns, root, kernel);
}

template <class Bytes, PartLike<Condition> Part>
void fields(Bytes& bytes, Part& part) {
  auto& [condition, text, severity] = part;
  bytes(condition, text, severity);
}

template <class Bytes, PartLike<ActiveCondition> Part>
void fields(Bytes& bytes, Part& part) {
  auto& [condition, since] = part;
  bytes(condition, since);
}

template <class Bytes, PartLike<Resources> Part>
void fields(Bytes& bytes, Part& part) {
  auto& [memory, quota, period, shares, cpus, mems, hugepages] = part;
  bytes(memory, quota, period, shares, cpus, mems, hugepages);
}

template <class Bytes, PartLike<Container> Part>
void fields(Bytes& bytes, Part& part) {
  auto& [id, name, resources, source, stopped, path] = part;
  bytes(id, name, resources, source, stopped, path);
}

template <class Bytes, PartLike<PodName> Part>
void fields(Bytes& bytes, Part& part) {
  auto& [ns, name, uid] = part;
  bytes(ns, name, uid);
}

template <class Bytes, PartLike<PodAmounts> Part>
void fields(Bytes& bytes, Part& part) {
  auto& [memory, cpu] = part;
  bytes(memory, cpu);
}

template <class Bytes, PartLike<Bundle> Part>
void fields(Bytes& bytes, Part& part) {
  auto& [id, directory, directory_id, engine, ns, type, sandbox, container, pod, handler, path,
         resources, overhead, boot, layout, pinning, memory, quota, period, shares, pod_memory,
         pod_cpu, shim_pid, shim_binary, complaints, unreadable, ended] = part;
  bytes(id, directory, directory_id, engine, ns, type, sandbox, container, pod, handler, path,
        resources, overhead, boot, layout, pinning, memory, quota, period, shares, pod_memory,
        pod_cpu, shim_pid, shim_binary, complaints, unreadable, ended);
}

template <class Bytes, PartLike<KataState> Part>
void fields(Bytes& bytes, Part& part) {
  auto& [file, state, only, pinning, hypervisor, boot, hotplugged, containers, stopped] = part;
  bytes(file, state, only, pinning, hypervisor, boot, hotplugged, containers, stopped);
}

template <class Bytes, PartLike<Overhead> Part>
void fields(Bytes& bytes, Part& part) {
  auto& [memory, cpu, source] = part;
  bytes(memory, cpu, source);
}

template <class Bytes, PartLike<PodAsked> Part>
void fields(Bytes& bytes, Part& part) {
  auto& [overhead, overhead_source, request, limits, requests_source, labels] = part;
  bytes(overhead, overhead_source, request, limits, requests_source, labels);
}

template <class Bytes, PartLike<ThreadView> Part>
void fields(Bytes& bytes, Part& part) {
  auto& [pid, tid, role, cls, by, comm, cpu, now, wanted, placed] = part;
  bytes(pid, tid, role, cls, by, comm, cpu, now, wanted, placed);
}

template <class Bytes, PartLike<GroupView> Part>
void fields(Bytes& bytes, Part& part) {
  auto& [role, path, hierarchies, type, limits, wanted, memory, exists] = part;
  bytes(role, path, hierarchies, type, limits, wanted, memory, exists);
}

template <class Bytes, PartLike<SandboxView> Part>
void fields(Bytes& bytes, Part& part) {
  auto& [id, ns, name, uid, handler, engine, layout, layout_source, driver, state, pod, sandbox,
         overhead_group, pod_limits, hypervisor, shim, vmm, vcpus, overhead, memory, limit, used,
         peak, cpu, created, threads, groups, containers, asked, conditions, ignored] = part;
  bytes(id, ns, name, uid, handler, engine, layout, layout_source, driver, state, pod, sandbox,
        overhead_group, pod_limits, hypervisor, shim, vmm, vcpus, overhead, memory, limit, used,
        peak, cpu, created, threads, groups, containers, asked, conditions, ignored);
}

template <class Bytes, PartLike<Place> Part>
void fields(Bytes& bytes, Part& part) {
  auto& [layout, source, driver, pod, sandbox, overhead_group, overhead] = part;
  bytes(layout, source, driver, pod, sandbox, overhead_group, overhead);
}

template <class Bytes, PartLike<SandboxEvent> Part>
void fields(Bytes& bytes, Part& part) {
  auto& [kind, subject, group, from, to, text, severity, first, last, times] = part;
  bytes(kind, subject, group, from, to, text, severity, first, last, times);
}

template <class Bytes, PartLike<SandboxHistory> Part>
void fields(Bytes& bytes, Part& part) {
  auto& [id, ns, name, engine, pod, sandbox, created, ended, handler, declared, peak, vmm_start,
         ram, events] = part;
  bytes(id, ns, name, engine, pod, sandbox, created, ended, handler, declared, peak, vmm_start, ram,
        events);
}

}  // namespace kcg
