# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
driver=cgroupfs
start_daemon '[nri]
mode = "off"' # which would tell of updates, too
kata_settings MEMORY_MIB=64 VIRTIOFSD=false OWN_GROUP=false
run_pod 1
placed 1
id=$(pod_id 1)
group=$(beside_group 1)
grown 1

# A thread is born.
plug_vcpu 1 2
has_vcpus() { [[ $(places 1 | grep -c '/vcpu$') == "$1" ]]; }
within 10 "a third vCPU" has_vcpus 3

# The engine writes a bundle. Of an update Kata's state alone tells.
quota_is() { [[ $(value "$group/vcpu" cpu.max) == "$1 100000" ]]; }
run_container 1 app 128 50000
within 10 "the container's quota" quota_is 50000
update_container 1 app 128 40000
within 10 "the updated quota" quota_is 40000

# Somebody writes a limit of ours.
echo "30000 100000" >"$cgroups$group/vcpu/cpu.max"
within 10 "the quota is ours again" quota_is 40000
placed 1

# Somebody moves the hypervisor into Kata's group.
kata_settings MEMORY_MIB=64 VIRTIOFSD=false
run_pod 2
placed 2
grown 2
vmm_pid 2 >"$cgroups$(kata_group 2)/cgroup.procs"
is_back() { [[ $(group_of "$(vmm_pid 2)") == "$(beside_group 2)/vmm" ]]; }
within 10 "the hypervisor is back" is_back
placed 2

# A process ends, and its parent does nothing about it.
systemctl stop containerd # which would end the shim at once
kill -STOP "$(shim_pid 1)"
kill -KILL "$(vmm_pid 1)"
told() { [[ $(conditions "$id") == *VmmEnded* ]]; }
within 30 "the daemon tells of the end" told
kill -CONT "$(shim_pid 1)"
systemctl start containerd
wait_for 60 "containerd is back" engine_answers
stop_pod 1
nothing_left 1 "$id"
placed 2
