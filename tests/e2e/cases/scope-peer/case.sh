# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# median FILE: of a number a line.
median() { sort -n "$1" | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }

start_daemon
for pod in 1 2 3 4 5; do
  run_pod "$pod"
  placed "$pod"
done
ours=$(cgctl status --json | jq .placements.p50_usec)

for _ in {1..15}; do
  begun=$(date +%s%N)
  # The process in the scope says when it runs.
  running=$(systemd-run --scope --quiet date +%s%N)
  echo $(((running - begun) / 1000))
done >scopes
scope=$(median scopes)
say "a vCPU is in its group after $ours us, a process in a scope after $scope us (medians)"
((ours < scope)) || fail "a scope of systemd's is faster: $scope us, a vCPU waits $ours us"

for pod in 1 2 3 4 5; do
  id=$(pod_id "$pod")
  stop_pod "$pod"
  nothing_left "$pod" "$id"
done
