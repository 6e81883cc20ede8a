# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
start_daemon
run_pod 1
placed 1
before=$(places 1)
start_pods() { for pod in "$@"; do run_pod "$pod"; done; }
start_pods 2 3 &
starting=$!
for _ in 1 2 3; do
  systemctl daemon-reload
  systemctl daemon-reexec
done
wait "$starting" || fail "a pod did not start"
systemctl set-property --runtime "$(<"/run/pods/1/parent")" CPUWeight=200
for pod in 1 2 3; do placed "$pod"; done
equal "places of pod 1" "$(places 1)" "$before"

run_container 1 late
for pod in 1 2 3; do
  id=$(pod_id "$pod")
  stop_pod "$pod"
  nothing_left "$pod" "$id"
done
