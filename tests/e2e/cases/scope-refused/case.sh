# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
kata_settings OWN_GROUP=false MEMORY_MIB=64
printf '[Service]\nType=oneshot\nExecStart=/bin/false\n' >/etc/systemd/system/refuses.service
mkdir /etc/systemd/system/kata-sandbox-.scope.d
printf '[Unit]\nRequires=refuses.service\nAfter=refuses.service\n' \
  >/etc/systemd/system/kata-sandbox-.scope.d/refused.conf
systemctl daemon-reload
start_daemon
run_pod 1
id=$(pod_id 1)
refused_scope() { cgctl show "$id" | grep 'ScopeFailed.*dependency'; }
within 10 "the daemon tells what systemd has answered" refused_scope

rm -r /etc/systemd/system/kata-sandbox-.scope.d
systemctl daemon-reload
placed 1 "$(scope_group 1)"
stop_pod 1
nothing_left 1 "$id"
