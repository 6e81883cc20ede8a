# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
kata_settings MEMORY_MIB=64
start_daemon
pod_memory_mib=450
run_pod 1
placed 1
id=$(pod_id 1)
says() { [[ $(conditions "$id") == ParentUndersized ]]; }
wait_for 30 "the pod says that its parent is too small" says
equal "memory limit" "$(value "$(nested_group 1)" memory.max)" $(((64 + 268 + 350) << 20))
equal "state" "$(listed "$id" | jq -r .state)" degraded
told() { journal "SANDBOX_ID=$id" CONDITION=ParentUndersized SEVERITY=error | grep ParentUndersized; }
wait_for 30 "the journal tells of it" told
if cgctl list --failing >/dev/null; then fail "cgctl list --failing finds nothing wrong"; fi
