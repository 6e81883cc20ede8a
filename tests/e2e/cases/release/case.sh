# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# All of their memory: how much of it is in use when they are given back decides what is told.
kata_settings GUEST=touch PAUSED=true
start_daemon
begin_paused 1
run_container 1 first 128 50000
driver=cgroupfs
begin_paused 2
run_container 2 first 128 50000
for pod in 1 2; do
  touched "$pod"
  placed "$pod"
done
hypervisors() { for pod in 1 2; do vmm_pid "$pod"; done; }
before=$(hypervisors)

# with_kata: every thread of shim and hypervisor is in the group that Kata made for it.
with_kata() {
  equal "groups of pod 1" "$(places 1 | cut -d' ' -f2 | sort -u)" "$(kata_scope 1)"
  equal "groups of pod 2" "$(places 2 | cut -d' ' -f2 | sort -u)" "$(kata_group 2)"
  equal "hypervisors" "$(hypervisors)" "$before"
  for pod in 1 2; do ours_gone "$(pod_id "$pod")" || fail "groups of pod $pod are left"; done
}

# status WANTED COMMAND...: how it ends
status() {
  local wanted=$1 is=0
  shift
  "$@" || is=$?
  equal "exit status of $*" "$is" "$wanted"
}

say "while a daemon enforces"
status 4 cgctl uninstall-check
refused cgctl release
for pod in 1 2; do placed "$pod"; done

say "one of two, by its name"
systemctl stop kata-cgroupd
status 0 cgctl release default/pod-1
status 4 cgctl uninstall-check
equal "group of hypervisor 1" "$(group_of "$(vmm_pid 1)")" "$(kata_scope 1)"
limits_hold 2

say "the others"
status 0 cgctl release
status 0 cgctl uninstall-check
with_kata
for pod in 1 2; do
  update_container "$pod" first 192 30000
  run_container "$pod" second 64 20000
done
with_kata

say "a daemon that enforces"
systemctl start kata-cgroupd
for pod in 1 2; do placed "$pod"; done
equal "hypervisors" "$(hypervisors)" "$before"
for pod in 1 2; do
  id=$(pod_id "$pod")
  stop_pod "$pod"
  nothing_left "$pod" "$id"
  remove_pod_cgroup "$pod"
done
