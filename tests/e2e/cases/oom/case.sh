# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
kata_settings GUEST=eat MEMORY_MIB=512 PAUSED=true
sandbox_memory_mib=64 memory_overhead=64 pod_memory_mib=128
start_daemon
run_pod 1
kata_settings MEMORY_MIB=32
run_pod 2
id=$(pod_id 1)
placed 2
# A limit of ours is never tighter than the VM: the pod's is.
has_limit() { [[ $(value "$(nested_group 1)" memory.max) == $(((512 + 64 + 64) << 20)) ]]; }
wait_for 30 "a limit of 640 MiB" has_limit
pid=$(vmm_pid 1)

systemctl stop containerd # which would end the shim, and with it the sandbox, at once
qmp 1 cont
wait_for 60 "the end of the hypervisor" gone "/proc/$pid"
told() { journal "SANDBOX_ID=$id" CONDITION=OomKilled | grep "$1"; }
wait_for 30 "the daemon tells of it" told "allows 128 MiB"
shown() { [[ $(conditions "$id") == *OomKilled* ]]; }
wait_for 30 "cgctl tells of it" shown
systemctl start containerd
wait_for 60 "containerd is back" engine_answers
placed 2
stop_pod 1
nothing_left 1 "$id"
# Who asks later, by the pod's name, is told the reason.
past() { cgctl show default/pod-1 | tr '\n' ' '; }
remembered() { [[ $(past) == *OomKilled*allows*128*MiB*"It ended"* ]]; }
wait_for 30 "cgctl tells of the pod that is gone" remembered
systemctl restart kata-cgroupd
remembered || fail "a restart of the daemon has forgotten the pod: $(past)"
placed 2

# A process of the pod that is none of the sandbox: only the kernel's count tells of its end, and
# each time anew.
hungry() {
  local directory
  directory=$(pod_directory 2)/hungry
  mkdir -p "$directory"
  refused bash -c 'echo $$ >"$1/cgroup.procs" && echo 1000 >/proc/self/oom_score_adj &&
    exec python3 -IS -c "bytearray(1 << 28)"' hungry "$directory"
  wait_for 30 "removal of $directory" rmdir "$directory"
}
told_times() { (($(journal "SANDBOX_ID=$(pod_id 2)" CONDITION=OomKilled | wc -l) == $1)); }
for times in 1 2; do
  hungry
  wait_for 30 "the daemon tells of kill $times in pod 2" told_times "$times"
done
