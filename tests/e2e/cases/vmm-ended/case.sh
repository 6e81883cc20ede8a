# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# polite: systemd has waited for the end of all in Kata's scope, and nobody was killed.
polite() {
  stopped() { journal _PID=1 | grep "Stopped cri-containerd-$id"; }
  wait_for 30 "systemd has stopped the scope" stopped
  ! journal _PID=1 | grep -E "$id.*(Failed to kill|SIGKILL)"
}

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
polite || fail "systemd was not polite"
wait_for 30 "Kata's scope goes" childless "$(pod_directory 1)"

systemctl start containerd
wait_for 60 "containerd is back" engine_answers
stop_pod 1
nothing_left 1 "$id"
