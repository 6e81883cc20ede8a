# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
driver=cgroupfs
kata_settings DEVICE_RULES=true
start_daemon
run_pod 1
kata_settings
run_pod 2
for pod in 1 2; do placed "$pod"; done
rules() { standin/runc device-programs "$cgroups$1"; }
[[ -n $(rules "$(kata_group 1)") ]] || fail "the stand-in has attached nothing"
equal "rules" "$(rules "$(beside_group 1)")" "$(rules "$(kata_group 1)")"
equal "rules of a pod without any" "$(rules "$(beside_group 2)")" ""

run_container 1 first
placed 1
equal "rules" "$(rules "$(beside_group 1)")" "$(rules "$(kata_group 1)")"
systemctl restart kata-cgroupd
placed 1
equal "rules after a restart" "$(rules "$(beside_group 1)")" "$(rules "$(kata_group 1)")"
