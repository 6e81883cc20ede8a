# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
start_daemon
run_pod 1
placed 1
id=$(pod_id 1)
systemctl stop "cri-containerd-$id.scope"
# If this no longer holds, systemd can kill a scope with thread groups politely: say so in the
# documentation.
impolite() { journal _PID=1 | grep 'Failed to kill control group.*Operation not supported'; }
wait_for 30 "systemd says that it cannot kill the scope" impolite
# The scope's own empty directory may stay, if systemd forgot the unit just when QEMU had ended.
wait_for 30 "our groups go" ours_gone "$id"
wait_for 30 "the daemon forgets the sandbox" unknown "$id"
stop_pod 1
remove_pod_cgroup 1

systemctl stop kata-cgroupd
start_daemon '[placement]
thread_groups = false'
run_pod 2
placed_in_one 2
id=$(pod_id 2)
exec {said}<"/run/kata-standin/$id/qemu.log" # the engine may have it removed
systemctl stop "cri-containerd-$id.scope"
grep 'terminating on signal 15' <&"$said" || fail "QEMU was not asked to end"
nothing_left 2 "$id"
