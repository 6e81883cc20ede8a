# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
run_pod 1
id=$(pod_id 1) group=$(nested_group 1)
sleep infinity &
stranger=$!
echo "$stranger" >"$cgroups$(kata_scope 1)/cgroup.procs"
start_daemon $'[placement]\nexisting = "place"'
told() { [[ $(conditions "$id") == ForeignProcess ]]; }
wait_for 30 "the stranger is told of" told
gone "$cgroups$group/memory.max" || fail "memory is limited beside a process in Kata's scope"
kill "$stranger"
# When he has been gone for as long as he was there; other clocks of the daemon's are slower.
within 50 "its limits are in force" has_limits 1 "$group"
placed 1
equal "conditions" "$(conditions "$id")" ""
