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
kata_settings MEMORY_MIB=64 VIRTIOFSD=false
run_pod 2
placed 2
kata_settings MEMORY_MIB=64 VIRTIOFSD=false LATE_VIRTIOFSD=true PAUSED=true
begin_paused 3
for pod in 1 2 3; do grown "$pod"; done

# rests: the daemon has used less than a tick of a CPU for a second. Programs of ours would wake it.
rests() {
  local stat before
  read -ra stat <"/proc/$daemon/stat"
  before=$((stat[13] + stat[14]))
  read -rt 1 <>/run/node/nobody-writes || true
  read -ra stat <"/proc/$daemon/stat"
  ((stat[13] + stat[14] == before))
}
daemon=$(daemon_pid)
mkfifo /run/node/nobody-writes

say "a thread is born"
plug_vcpu 1 2
has_vcpus() { [[ $(places 1 | grep -c '/vcpu$') == "$1" ]]; }
within 10 "a third vCPU" has_vcpus 3

say "a program is executed"
touch "/run/kata-standin/$(pod_id 3)/virtiofsd-begins"
virtiofsd() { pgrep --oldest --full "virtiofsd.*$(pod_id 3)"; }
serves() { [[ $(group_of "$(virtiofsd)") == "$(beside_group 3)/io" ]]; }
within 10 "virtiofsd is placed" serves
placed 3

say "events are lost"
wait_for 60 "the daemon rests" rests
kill -STOP "$daemon"
python3 -IS /run/node/case/noise || fail "no noise"
plug_vcpu 1 3
kill -CONT "$daemon"
within 10 "a fourth vCPU" has_vcpus 4

say "the engine writes a bundle"
# Of an update Kata's state alone tells.
quota_is() { [[ $(value "$group/vcpu" cpu.max) == "$1 100000" ]]; }
run_container 1 app 128 50000
within 10 "the container's quota" quota_is 50000
update_container 1 app 128 40000
within 10 "the updated quota" quota_is 40000

say "somebody writes a limit of ours"
echo "30000 100000" >"$cgroups$group/vcpu/cpu.max"
within 10 "the quota is ours again" quota_is 40000
placed 1

say "somebody moves the hypervisor into Kata's group"
is_back() { [[ $(group_of "$(vmm_pid 2)") == "$(beside_group 2)/vmm" ]]; }
vmm_pid 2 >"$cgroups$(kata_group 2)/cgroup.procs"
within 10 "the hypervisor is back" is_back

say "Kata's group is made anew, and the hypervisor moved into it"
rmdir "$cgroups$(kata_group 2)"
wait_for 60 "the daemon rests" rests
mkdir "$cgroups$(kata_group 2)"
wait_for 60 "the daemon rests" rests
vmm_pid 2 >"$cgroups$(kata_group 2)/cgroup.procs"
within 10 "the hypervisor is back" is_back
placed 2

say "who outlives its sandbox ends"
late=$(pod_id 3)
stop_pod 3
blocked() { [[ $(conditions "$late") == *RemovalBlocked* ]]; }
within 30 "the groups of pod 3 are busy" blocked
pkill --signal KILL --full "virtiofsd.*$late"
within 10 "its groups go" ours_gone "$late"

say "a process ends, and its parent does nothing about it"
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
