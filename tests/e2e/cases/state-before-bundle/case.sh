# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
kata_settings MEMORY_MIB=64 VIRTIOFSD=false DELETE_SECONDS=3
start_daemon
run_pod 1
id=$(pod_id 1)
run_container 1 steady 64 30000
run_container 1 leaving 64 50000
placed 1
traced /run/trace
crash_container 1 leaving
limits_hold 1
untraced
writes=$(grep -E 'write.*vcpu/cpu.max' /run/trace || true)
say "$writes"
equal "writes of the quota" "$(grep -c . <<<"$writes")" 1

# The same with a short life, as in a job's pod: several bundles are left at once.
for name in a b c; do run_container 1 "$name" 64 20000; done
for name in a b c; do kill -KILL "$(container_pid 1 "$name")"; done
for name in a b c; do rm "/run/pods/1/containers/$name"; done
limits_hold 1
for name in a b c; do
  wait_for 60 "the engine removes the bundle of $name" gone "$bundles/$(container_id 1 "$name")"
done
limits_hold 1
placed 1
equal "conditions" "$(conditions "$id")" ""
stop_pod 1
nothing_left 1 "$id"
