# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
start_daemon
run_pod 1
id=$(pod_id 1)
placed 1 "$(nested_group 1)"

run_container 1 first 128 50000
run_container 1 second 128 20000
placed 1
update_container 1 second 192 30000
placed 1
stop_container 1 first
placed 1
equal "conditions" "$(conditions "$id")" ""

stop_pod 1
nothing_left 1 "$id"
remove_pod_cgroup 1
