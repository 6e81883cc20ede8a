# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
kata_settings VCPUS=1 MAX_VCPUS=1 MEMORY_MIB=16 VIRTIOFSD=false
start_daemon
run_quarter() {
  for pod in $(seq "$1" 4 20); do
    driver=$([[ $((pod % 2)) == 0 ]] && echo systemd || echo cgroupfs)
    run_pod "$pod"
  done
}
together run_quarter 1 2 3 4

for pod in $(seq 20); do placed "$pod"; done
say "all are placed"

stop_quarter() { for pod in $(seq "$1" 4 20); do stop_pod "$pod"; done; }
together stop_quarter 1 2 3 4
for pod in $(seq 20); do remove_pod_cgroup "$pod"; done
nobody() { cgctl list --json | jq -e '.sandboxes == []'; }
wait_for 30 "the daemon forgets them all" nobody
