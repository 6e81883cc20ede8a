# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
kata_settings OWN_GROUP=false
start_daemon
for pod in 1 2 3; do make_pod_cgroup "$pod"; done
start_pods() {
  make_pod_cgroup() { :; } # the kubelet would ask again and again
  for pod in "$@"; do run_pod "$pod"; done
}
start_pods 1 2 3 &
starting=$!
while kill -0 "$starting" 2>/dev/null; do
  systemctl daemon-reexec
  systemctl daemon-reload
done
wait "$starting" || fail "a pod did not start"
for pod in 1 2 3; do placed "$pod" "$(scope_group "$pod")"; done
before=$(for pod in 1 2 3; do places "$pod"; done)

systemctl restart dbus
wait_for 30 "the daemon is on the bus again" busctl status io.katacontainers.CgroupManager1
run_pod 4
placed 4 "$(scope_group 4)"
equal "places" "$(for pod in 1 2 3; do places "$pod"; done)" "$before"
for pod in 1 2 3 4; do
  id=$(pod_id "$pod")
  placed "$pod" "$(scope_group "$pod")"
  stop_pod "$pod"
  nothing_left "$pod" "$id"
  remove_pod_cgroup "$pod"
done
