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

# counted CLASS: CPU time in us, periods, and those of them in which the quota was met, in one look
counted() {
  value "$group/$1" cpu.stat |
    awk '{ of[$1] = $2 } END { print of["usage_usec"], of["nr_periods"], of["nr_throttled"] }'
}
read -r used periods throttled < <(counted vcpu)
enough_throttled() { (($(counted vcpu | cut -d' ' -f3) >= throttled + 30)); }
wait_for 60 "thirty throttled periods" enough_throttled
read -r used_now periods_now throttled_now < <(counted vcpu)
used=$((used_now - used)) periods=$((periods_now - periods)) throttled=$((throttled_now - throttled))
say "vCPUs used $used us in $periods periods, $throttled of them throttled"
between "CPU time per period" $((used / periods)) 0 56000
# A busy host does not let them run for so long in each period.
between "CPU time per throttled period" $((used / throttled)) 44000 1000000
for class in io vmm shim; do equal "throttled $class" "$(counted $class | cut -d' ' -f3)" 0; done
