# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
start_daemon
run_pod 1
run_container 1 first
driver=cgroupfs
run_pod 2
for pod in 1 2; do placed "$pod"; done
before=$(places 1; places 2)

systemctl restart containerd
wait_for 60 "containerd is back" engine_answers
equal "places" "$(places 1; places 2)" "$before"
for pod in 1 2; do
  run_container "$pod" later
  placed "$pod"
  id=$(pod_id "$pod")
  stop_pod "$pod"
  nothing_left "$pod" "$id"
done
