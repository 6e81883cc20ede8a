# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
kata_settings OWN_GROUP=false
start_daemon
description="Kata Containers sandbox, placed by kata-cgroupd"
# scope POD DESCRIPTION PID LIFE-US: as the daemon asks for it, which then died before it could mark it
scope() {
  busctl -q call org.freedesktop.systemd1 /org/freedesktop/systemd1 \
    org.freedesktop.systemd1.Manager StartTransientUnit 'ssa(sv)a(sa(sv))' \
    "kata-sandbox-$(pod_id "$1").scope" fail 6 Description s "$2" Slice s "$(<"/run/pods/$1/parent")" \
    Delegate b true DefaultDependencies b false RuntimeMaxUSec t "$4" PIDs au 1 "$3" 0
}
# failed_scope POD DESCRIPTION: a unit that keeps its name, and no group
failed_scope() {
  sleep 600 &
  scope "$1" "$2" $! 1000
  wait_for 30 "the scope of pod $1 fails" systemctl --quiet is-failed "kata-sandbox-$(pod_id "$1").scope"
}
systemctl stop kata-cgroupd
for pod in 1 2 3; do run_pod "$pod"; done
scope 1 "$description" "$(vmm_pid 1)" 18446744073709551615
wait_for 30 "the scope of pod 1" test -d "$(pod_directory 1)/kata-sandbox-$(pod_id 1).scope"
failed_scope 2 "$description"
failed_scope 3 "somebody else's"

start_daemon
for pod in 1 2; do placed "$pod" "$(scope_group "$pod")"; done
in_trouble() { [[ $(conditions "$(pod_id 3)") == *ScopeFailed* ]]; }
wait_for 30 "the stranger's unit is told of" in_trouble
cgctl show "$(pod_id 3)" | grep "somebody else's" || fail "not in systemd's words"
systemctl --quiet is-failed "kata-sandbox-$(pod_id 3).scope" || fail "the stranger's unit was touched"
systemctl reset-failed "kata-sandbox-$(pod_id 3).scope"
placed 3 "$(scope_group 3)"
for pod in 1 2 3; do
  id=$(pod_id "$pod")
  stop_pod "$pod"
  nothing_left "$pod" "$id"
done
