# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
kata_settings SANDBOX_CGROUP_ONLY=false
start_daemon
run_pod 1
id=$(pod_id 1)
placed 1 "$(scope_group 1)"
equal "conditions" "$(conditions "$id")" "LegacyNotOnV2"
run_container 1 first
placed 1 "$(scope_group 1)"
update_container 1 first 192 30000
placed 1 "$(scope_group 1)"
stop_pod 1
nothing_left 1 "$id"
remove_pod_cgroup 1
