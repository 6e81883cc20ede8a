# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
kata_settings GUEST=eat MEMORY_MIB=512 PAUSED=true
sandbox_memory_mib=64 memory_overhead=64
start_daemon
run_pod 1
kata_settings MEMORY_MIB=32
run_pod 2
id=$(pod_id 1)
placed 2
has_limit() { [[ $(value "$(nested_group 1)" memory.max) == $((128 << 20)) ]]; }
wait_for 30 "a limit of 128 MiB" has_limit
pid=$(vmm_pid 1)

qmp 1 cont
wait_for 60 "the end of the hypervisor" gone "/proc/$pid"
told() { journal "SANDBOX_ID=$id" CONDITION=OomKilled | grep "$1"; }
wait_for 30 "the daemon tells of it" told "134217728"
shown() { [[ $(conditions "$id") == *OomKilled* ]]; }
wait_for 30 "cgctl tells of it" shown
placed 2
stop_pod 1
nothing_left 1 "$id"
