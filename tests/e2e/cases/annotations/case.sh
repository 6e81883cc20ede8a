# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
kata_settings MEMORY_MIB=64 VIRTIOFSD=false
start_daemon
# run_with POD TEXT: a pod whose overhead annotation says so
run_with() {
  memory_overhead=
  more_annotations="annotations {
    key: \"io.katacontainers.config.hypervisor.memory_overhead\" value: \"$2\" }"
  run_pod "$1"
}
# told POD LIMIT CONDITION: what is written, and what is said
told() {
  in_groups "$1"
  says() { [[ $(conditions "$(pod_id "$1")") == "$2" ]]; }
  wait_for 30 "pod $1 says '$3'" says "$1" "$3"
  equal "memory limit of pod $1" "$(value "$(nested_group "$1")" memory.max)" "$2"
}
wrong=(0 -1 1.5 " 350" "" 350Mi 5000)
pod=0
for text in "${wrong[@]}"; do
  run_with $((++pod)) "$text"
  told "$pod" max InvalidAnnotation
  cgctl show --json "$(pod_id "$pod")" | jq -e --arg text "$text" \
    '.conditions[] | select(.name == "InvalidAnnotation") | .text | contains($text)' ||
    fail "the condition does not show '$text'"
  stop_pod "$pod"
done
run_with $((++pod)) 0350
told "$pod" $(((268 + 350) << 20)) ""
run_with $((++pod)) 32
told "$pod" $(((268 + 32) << 20)) OverheadImplausible
