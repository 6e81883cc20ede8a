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
kata_settings GUEST=touch
run_pod 4
driver=cgroupfs
run_pod 5
touched() { (($(awk '{ print $2 }' "/proc/$(vmm_pid "$1")/statm") > 96 * 256)); }
for pod in 4 5; do wait_for 60 "the guest of pod $pod has touched its memory" touched "$pod"; done
systemctl start kata-cgroupd

charged_elsewhere() { [[ $(conditions "$(pod_id "$1")") == ChargedElsewhere ]]; }
for pod in 4 5; do wait_for 30 "pod $pod says that it was placed late" charged_elsewhere "$pod"; done
for pod in 1 3 4 5; do placed "$pod"; done
for pod in 1 3; do equal "conditions" "$(conditions "$(pod_id "$pod")")" ""; done
nothing_left 2 "$ended"
remove_pod_cgroup 2
