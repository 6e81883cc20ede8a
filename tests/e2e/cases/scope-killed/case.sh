# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
kata_settings OWN_GROUP=false
start_daemon
for pod in 1 2 3; do make_pod_cgroup "$pod"; done
start_pods() {
  make_pod_cgroup() { :; }
  for pod in "$@"; do run_pod "$pod"; done
}
asked() { systemctl --quiet list-units --all --no-legend 'kata-sandbox-*.scope' | grep -c . >/dev/null; }
start_pods 1 2 3 &
starting=$!
wait_for 60 "systemd is asked for the first scope" asked
while kill -0 "$starting" 2>/dev/null; do
  pid=$(daemon_pid)
  ((pid == 0)) || kill -KILL "$pid" 2>/dev/null || true
  wait_for 30 "systemd starts the daemon again" another_daemon "$pid"
done
wait "$starting" || fail "a pod did not start"

for pod in 1 2 3; do placed "$pod" "$(scope_group "$pod")"; done
equal "scopes" "$(systemctl list-units --no-legend 'kata-sandbox-*.scope' | wc -l)" 3
for pod in 1 2 3; do
  id=$(pod_id "$pod")
  stop_pod "$pod"
  nothing_left "$pod" "$id"
  remove_pod_cgroup "$pod"
done
[[ -z $(find /run/kata-cgroupd -name 'creating-*') ]] || fail "a note of a creation stays"
