# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
kata_settings MEMORY_MIB=64
sandbox_memory_mib=100
pod_memory_mib=0 # else the limit would be the pod's
start_daemon
run_pod 1
placed 1
group=$(nested_group 1)
limits() { echo "$(value "$group" memory.max) $(value "$group/vcpu" cpu.max)"; }
limits_become() {
  wanted="$(($1 << 20)) $2"
  are_wanted() { [[ $(limits) == "$wanted" ]] || { limits && false; }; }
  wait_for 30 "limits become $wanted" are_wanted
  say "limits: $wanted"
}
limits_become $((64 + 100 + 350)) "max 100000"
run_container 1 init 256 80000
limits_become $((64 + 256 + 350)) "80000 100000"
stop_container 1 init
run_container 1 app 128 50000
limits_become $((64 + 256 + 350)) "50000 100000"
run_container 1 sidecar 192 20000
limits_become $((64 + 320 + 350)) "70000 100000"
update_container 1 sidecar 224 30000
limits_become $((64 + 352 + 350)) "80000 100000"
stop_container 1 sidecar
limits_become $((64 + 352 + 350)) "50000 100000"
explained=$(cgctl explain "$(pod_id 1)")
say "$explained"
for text in "memory.max of sandbox = $(((64 + 352 + 350) << 20))" 'memory_overhead="350"' \
  "-m on the VMM's command line" "cpu.max of vcpu = 50000 100000" "128 MiB  memory of container app"; do
  [[ $explained == *"$text"* ]] || fail "cgctl explain does not say: $text"
done
systemctl restart kata-cgroupd
placed 1
limits_become $((64 + 352 + 350)) "50000 100000"

run_container 1 unlimited 0 0
no_limits() { [[ $(limits) == "max max 100000" ]]; }
wait_for 30 "no limits at all" no_limits
placed 1
