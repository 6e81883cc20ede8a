# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
start_daemon
run_pod 1
run_pod 2
placed 1
placed 2
id=$(pod_id 1)
systemctl stop containerd # which would end the shim at once
kill -KILL "$(vmm_pid 1)"
told() { [[ $(conditions "$id") == *VmmEnded* ]]; }
wait_for 30 "the daemon tells of it" told
failing=0
cgctl list --failing >/run/failing || failing=$?
say "$(</run/failing)"
equal "exit status" "$failing" 4
grep -q "${id:0:12}" /run/failing || fail "the list does not show it"
if grep -q "$(pod_id 2 | cut -c1-12)" /run/failing; then fail "its neighbour fails, too"; fi
logged() { journal "SANDBOX_ID=$id" CONDITION=VmmEnded | grep .; }
wait_for 30 "the journal tells of it" logged
systemctl start containerd
wait_for 60 "containerd is back" engine_answers
stop_pod 1
nothing_left 1 "$id"
cgctl list --failing >/run/failing || true
if grep -q "${id:0:12}" /run/failing; then fail "it fails still"; fi
placed 2
