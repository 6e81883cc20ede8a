# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
start_daemon
run_pod 1 runc
run_container 1 only
before=$(cat "$cgroups$(kata_scope 1)/cgroup.procs")
run_pod 2 kata
placed 2

equal "the runc pod's processes" "$(cat "$cgroups$(kata_scope 1)/cgroup.procs")" "$before"
unknown "$(pod_id 1)" || fail "the daemon takes the runc pod for one of Kata's"
cgctl list --all --json | jq -e --arg id "$(pod_id 1)" \
  '.sandboxes[] | select(.sandbox == $id) | .ignored' || fail "the runc pod is not listed as ignored"
equal "groups of ours in the runc pod" "$(find "$(pod_directory 1)" -name 'kata-*')" ""

stop_pod 1
stop_pod 2
