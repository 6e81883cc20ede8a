# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
file=/etc/kata-cgroupd/config.d/case.toml
mkdir -p "${file%/*}"
printf '[placement]\nthread_grups = false\n' >$file
# named TIMES: so often the journal tells of the mistake
named() { [[ $(journal --unit=kata-cgroupd | grep -c "$file:2: placement.thread_grups") == "$1" ]]; }
refused systemctl start kata-cgroupd
equal "exit status" "$(systemctl show --value --property=ExecMainStatus kata-cgroupd)" 78
equal "state" "$(systemctl show --value --property=ActiveState kata-cgroupd)" failed
wait_for 30 "the mistake is named" named 1

printf '[placement]\nthread_groups = false\n' >$file
systemctl start kata-cgroupd || fail "a good configuration is refused"
run_pod 1
placed_in_one 1
printf '[placement]\nthread_grups = true\n' >$file
refused systemctl reload kata-cgroupd
kept() { journal --unit=kata-cgroupd | grep "configuration kept as it was: $file:2: placement.thread_grups"; }
wait_for 30 "the mistake is named again" kept
placed_in_one 1
printf '[placement]\nthread_groups = true\n' >$file
systemctl reload kata-cgroupd || fail "a good configuration is refused"
placed 1

# The signal does the same.
printf '[placement]\nthread_groups = false\n' >$file
systemctl kill --signal=HUP kata-cgroupd
placed_in_one 1
