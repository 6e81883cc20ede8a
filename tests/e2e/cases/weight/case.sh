# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
kata_settings GUEST=spin CONTAINER=spin
pod_quota=200000
start_daemon
run_pod 1
run_container 1 busy 128 0 # a child of the shim, so it belongs to the VMM's class
placed 1
group=$(nested_group 1)
equal "weights" "$(value "$group/vcpu" cpu.weight) $(value "$group/vmm" cpu.weight)" "200 100"
equal "quota of the vCPUs" "$(value "$group/vcpu" cpu.max)" "max 100000"

for class in vcpu vmm; do
  for tid in $(value "$group/$class" cgroup.threads); do taskset -pc 0 "$tid" >/dev/null; done
done
used() { value "$group/$1" cpu.stat | sed -n 's/^usage_usec //p'; }
vcpu=$(used vcpu) vmm=$(used vmm)
long_enough() { (($(used vmm) >= vmm + 3000000)); }
wait_for 60 "three seconds of CPU time" long_enough
vcpu=$(($(used vcpu) - vcpu)) vmm=$(($(used vmm) - vmm))
say "vCPUs used $vcpu us, the VMM's group $vmm us"
between "vCPUs' time for each 100 of the others" $((vcpu * 100 / vmm)) 170 230
