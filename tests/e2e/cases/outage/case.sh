# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
start_daemon
driver=cgroupfs
run_pod 1
run_pod 2
driver=systemd
run_pod 3
for pod in 1 2 3; do placed "$pod"; done
ended=$(pod_id 2)
before=$(places 1)

systemctl stop kata-cgroupd
equal "places without the daemon" "$(places 1)" "$before"
stop_pod 2
run_pod 4
driver=cgroupfs
run_pod 5
systemctl start kata-cgroupd

for pod in 1 3; do placed "$pod"; done
for pod in 4 5; do in_groups "$pod"; done
nothing_left 2 "$ended"
remove_pod_cgroup 2
