# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
kata_settings MEMORY_MIB=64 VIRTIOFSD=false
pod_memory_mib=0
start_daemon
# run_with POD TEXT MIB: a pod whose overhead annotation says so, which is understood as MIB, or none
run_with() {
  memory_overhead=
  more_annotations="annotations {
    key: \"io.katacontainers.config.hypervisor.memory_overhead\" value: \"$2\" }"
  run_pod "$1"
  echo "$3" >"/run/pods/$1/overhead"
}
# told POD CONDITION: it is placed with its limits, and that is said of it.
told() {
  placed "$1"
  says() { [[ $(conditions "$(pod_id "$1")") == "$2" ]]; }
  wait_for 30 "pod $1 says '$2'" says "$1" "$2"
}
wrong=(0 -1 1.5 " 350" "" 350Mi 5000)
pod=0
for text in "${wrong[@]}"; do
  run_with $((++pod)) "$text" ""
  told "$pod" InvalidAnnotation
  cgctl show --json "$(pod_id "$pod")" | jq -e --arg text "$text" \
    '.conditions[] | select(.name == "InvalidAnnotation") | .text | contains($text)' ||
    fail "the condition does not show '$text'"
  stop_pod "$pod"
done
run_with $((++pod)) 0350 350
told "$pod" ""
run_with $((++pod)) 32 32
told "$pod" OverheadImplausible
