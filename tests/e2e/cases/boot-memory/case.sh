# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
kata_settings GUEST=touch MEMORY_MIB=384 VIRTIOFSD=false PAUSED=true
sandbox_memory_mib=64 memory_overhead=64
start_daemon

# lives POD: with all of its memory in use
lives() {
  local vmm
  begin_paused "$1"
  vmm=$(vmm_pid "$1")
  touched "$1"
  placed "$1"
  say "$(cgctl explain "$(pod_id "$1")" | grep memory.max || true)"
  equal "kills" "$(value "$(sandbox_group "$1")" memory.events | sed -n 's/^oom_kill //p')" 0
  equal "hypervisor" "$(vmm_pid "$1")" "$vmm"
  [[ -d /proc/$vmm ]] || fail "the hypervisor is dead"
  stop_pod "$1"
}
pod_memory_mib=500 # less than boot memory, containers and overhead: those 512 MiB are written
lives 1
pod_memory_mib=900 # more: never tighter than what the kubelet granted
lives 2
driver=cgroupfs
lives 3
