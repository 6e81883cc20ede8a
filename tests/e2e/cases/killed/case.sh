# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
start_daemon
kill_daemon() {
  local pid
  pid=$(daemon_pid)
  kill -KILL "$pid"
  wait_for 30 "systemd starts the daemon again" another_daemon "$pid"
  wait_for 30 "the daemon is ready" systemctl --quiet is-active kata-cgroupd
  say "the daemon was killed"
}
start_pods() {
  for pod in "$@"; do
    driver=$([[ $((pod % 2)) == 0 ]] && echo systemd || echo cgroupfs)
    run_pod "$pod"
  done
}
start_pods 1 2 3 4 &
starting=$!
for _ in 1 2 3; do kill_daemon; done
wait "$starting" || fail "a pod did not start"

for pod in 1 2 3 4; do placed "$pod"; done
before=$(for pod in 1 2 3 4; do vmm_pid "$pod"; done)
kill_daemon
for pod in 1 2 3 4; do placed "$pod"; done
equal "hypervisors" "$(for pod in 1 2 3 4; do vmm_pid "$pod"; done)" "$before"

for pod in 1 2 3 4; do
  id=$(pod_id "$pod")
  stop_pod "$pod"
  nothing_left "$pod" "$id"
done
