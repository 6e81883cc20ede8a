# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
kata_settings MEMORY_MIB=64
start_daemon
pod_memory_mib=450
run_pod 1
pod_memory_mib=1024
memory_overhead=350Mi
run_pod 2
memory_overhead=32
run_pod 3
memory_overhead=5000
run_pod 4
declare -A wanted=([1]=ParentUndersized [2]=InvalidAnnotation [3]=OverheadImplausible [4]=InvalidAnnotation)
declare -A limit=([1]=$(((268 + 350) << 20)) [2]=max [3]=$(((268 + 32) << 20)) [4]=max)
says() { [[ $(conditions "$(pod_id "$1")") == "${wanted[$1]}" ]]; }
for pod in 1 2 3 4; do
  in_groups "$pod"
  wait_for 30 "pod $pod says ${wanted[$pod]}" says "$pod"
  equal "memory limit of pod $pod" "$(value "$(nested_group "$pod")" memory.max)" "${limit[$pod]}"
  equal "state of pod $pod" "$(listed "$(pod_id "$pod")" | jq -r .state)" degraded
  journalctl --no-pager --output=cat "SANDBOX_ID=$(pod_id "$pod")" "CONDITION=${wanted[$pod]}" |
    grep "${wanted[$pod]}" || fail "the journal does not tell of pod $pod"
done
if cgctl list --failing >/dev/null; then fail "cgctl list --failing finds nothing wrong"; fi
