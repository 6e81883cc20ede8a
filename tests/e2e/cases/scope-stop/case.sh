# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
start_daemon
run_pod 1
placed 1
id=$(pod_id 1)
systemctl stop "cri-containerd-$id.scope"
journalctl --no-pager --output=cat _PID=1 | grep 'Failed to kill control group.*Operation not supported' ||
  fail "systemd can kill a scope with thread groups politely: say so in the documentation"
nothing_left 1 "$id"

systemctl stop kata-cgroupd
start_daemon '[placement]
thread_groups = false'
run_pod 2
in_one_group 2
id=$(pod_id 2)
systemctl stop "cri-containerd-$id.scope"
grep 'terminating on signal 15' "/run/kata-standin/$id/qemu.log" || fail "QEMU was not asked to end"
nothing_left 2 "$id"
