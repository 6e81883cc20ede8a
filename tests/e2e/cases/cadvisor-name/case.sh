# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
start_daemon
run_pod 1
placed 1
driver=cgroupfs
run_pod 2
placed 2
# cAdvisor takes what matches for the container of that id: [a-z0-9]{64} anywhere in the last part
taken() { find "$1" -mindepth 1 -type d | sed 's,.*/,,' | grep -E '[a-z0-9]{64}'; }
scope=$cgroups$(kata_scope 1)
if taken "$scope"; then fail "it counts twice inside $scope"; fi
# Beside Kata's empty group ours is the one that counts.
equal "groups of that name below $(pod_directory 2)" "$(taken "$(pod_directory 2)" | sort)" \
  "$(printf '%s\n' "kata-sandbox-$(pod_id 2)" "kata_$(pod_id 2)")"
equal "processes in Kata's group" "$(cat "$cgroups$(kata_group 2)/cgroup.procs")" ""
