# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
start_daemon
run_pod 1
placed 1
id=$(pod_id 1)
systemctl stop containerd # which would end the shim at once
kill -KILL "$(vmm_pid 1)"
in_ordinary_group() {
  [[ $(group_of "$(shim_pid 1)") == "$(nested_group 1)" ]] && childless "$cgroups$(nested_group 1)"
}
wait_for 30 "the shim gets an ordinary group" in_ordinary_group
systemctl stop "cri-containerd-$id.scope"
if journalctl --no-pager --output=cat _PID=1 | grep "$id.*Failed to kill control group"; then
  fail "systemd was not polite"
fi
wait_for 30 "Kata's scope goes" childless "$(pod_directory 1)"

systemctl start containerd
wait_for 60 "containerd is back" engine_answers
stop_pod 1
nothing_left 1 "$id"

# Kata's own way to end a pod
kata_settings STOP_SCOPE=true
run_pod 2
id=$(pod_id 2)
whole_life 2
grep "${id:0:8} had time to clean up" /run/kata-standin/log || fail "Kata had no time to clean up"
