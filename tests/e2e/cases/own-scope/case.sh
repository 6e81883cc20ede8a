# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
kata_settings OWN_GROUP=false MEMORY_MIB=64
pod_memory_mib=0
start_daemon
run_pod 1
id=$(pod_id 1)
scope=kata-sandbox-$id.scope
placed 1 "$(scope_group 1)"
show() { systemctl show --value --property="$1" "$scope"; }
equal "slice" "$(show Slice)" "$(<"/run/pods/1/parent")"
equal "delegation" "$(show Delegate)" yes
equal "memory limit, for systemd" "$(show MemoryMax)" $(((64 + 268 + 350) << 20))
equal "memory limit, for the kernel" "$(value "$(scope_group 1)" memory.max)" $(((64 + 268 + 350) << 20))

run_container 1 first 384 50000
placed 1 "$(scope_group 1)"
grown() { [[ $(show MemoryMax) == $(((64 + 384 + 350) << 20)) ]]; }
wait_for 30 "the larger limit" grown
systemctl daemon-reload
placed 1 "$(scope_group 1)"
equal "memory limit" "$(value "$(scope_group 1)" memory.max)" $(((64 + 384 + 350) << 20))
equal "weight of the vCPUs" "$(value "$(scope_group 1)/vcpu" cpu.weight)" 200
equal "conditions" "$(conditions "$id")" ""
stop_container 1 first
placed 1 "$(scope_group 1)"

stop_pod 1
nothing_left 1 "$id"
equal "the unit" "$(show LoadState)" not-found
remove_pod_cgroup 1
