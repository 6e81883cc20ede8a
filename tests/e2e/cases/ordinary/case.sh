# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
start_daemon
for pod in 1 2; do
  # The first one as stock pods are: nobody says what the hypervisor needs.
  if ((pod == 1)); then driver=systemd memory_overhead=; else driver=cgroupfs memory_overhead=350; fi
  run_pod "$pod"
  id=$(pod_id "$pod")
  run_container "$pod" first 128 50000
  run_container "$pod" second 64 20000
  placed "$pod"
  update_container "$pod" second 96 30000
  crash_container "$pod" first
  placed "$pod"
  stop_pod "$pod"
  nothing_left "$pod" "$id"
  remove_pod_cgroup "$pod"
done
lines=$(journal --priority=notice _SYSTEMD_UNIT=kata-cgroupd.service)
[[ $(wc -l <<<"$lines") == 1 && $lines == "kata-cgroupd "[0-9]* ]] || fail "more than its start is told: $lines"
