# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
kata_settings GUEST=spin
pod_quota=200000
start_daemon
run_pod 1
placed 1
group=$(nested_group 1)
equal "quota before a container runs" "$(value "$group/vcpu" cpu.max)" "max 100000"
equal "weight of two vCPUs" "$(value "$group/vcpu" cpu.weight)" 200
equal "weight of the rest" "$(value "$group/vmm" cpu.weight) $(value "$group/io" cpu.weight)" "100 100"
run_container 1 first 128 50000
has_quota() { [[ $(value "$group/vcpu" cpu.max) == "$1" ]]; }
wait_for 30 "the container's quota" has_quota "50000 100000"

stat() { value "$group/$1" cpu.stat | sed -n "s/^$2 //p"; }
used=$(stat vcpu usage_usec) periods=$(stat vcpu nr_periods)
enough_periods() { (($(stat vcpu nr_periods) >= periods + 40)); }
wait_for 60 "forty periods" enough_periods
used=$(($(stat vcpu usage_usec) - used)) periods=$(($(stat vcpu nr_periods) - periods))
say "vCPUs used $used us in $periods periods"
between "CPU time per period" $((used / periods)) 44000 56000
between "throttled periods" "$(stat vcpu nr_throttled)" 30 1000000
for class in io vmm shim; do equal "throttled $class" "$(stat $class nr_throttled)" 0; done
