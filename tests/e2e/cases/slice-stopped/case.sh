# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
kata_settings OWN_GROUP=false
start_daemon
run_pod 1
placed 1 "$(scope_group 1)"
id=$(pod_id 1)
systemctl stop "$(<"/run/pods/1/parent")"
# The slice's own empty directory may stay, if QEMU was still dying when systemd tried to remove it.
wait_for 30 "the scope goes" ours_gone "$id"
stop_pod 1
wait_for 30 "the daemon forgets the sandbox" unknown "$id"
ours_gone "$id" || fail "a scope was made again"
journal --unit=kata-cgroupd | grep ScopeFailed && fail "systemd was blamed"
[[ -z $(systemctl list-units --all --no-legend 'kata-sandbox-*') ]] || fail "a unit stays"
