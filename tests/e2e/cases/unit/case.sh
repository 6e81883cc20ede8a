# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
unit=/usr/lib/systemd/system/kata-cgroupd.service
start_daemon

# Its share is the machine's, not a slice's, unless somebody wants it so.
in_group() { equal "its group" "$(systemctl show --value --property=ControlGroup kata-cgroupd)" "$1"; }
in_group /kata-cgroupd.service
mkdir /run/systemd/system/kata-cgroupd.service.d
printf '[Service]\nSlice=system.slice\n' >/run/systemd/system/kata-cgroupd.service.d/slice.conf
systemctl daemon-reload
systemctl restart kata-cgroupd
in_group /system.slice/kata-cgroupd.service
rm -r /run/systemd/system/kata-cgroupd.service.d
systemctl daemon-reload
systemctl restart kata-cgroupd
in_group /kata-cgroupd.service

# What is mounted once the daemon runs reaches it, and goes with the node's; pods are found there.
in_daemon() { grep -q " $1 " "/proc/$(daemon_pid)/mountinfo"; }
absent() { ! "$@"; }
equal "mount namespaces alike" "$([[ $(readlink /proc/1/ns/mnt) == "$(readlink "/proc/$(daemon_pid)/ns/mnt")" ]] && echo yes)" ""
mkdir -p "$bundles"
mount -t tmpfs -o mode=711 none "$bundles"
in_daemon "$bundles" || fail "the daemon does not see what is mounted later"
# Whoever executes a program is asked for by generic netlink, protocol 16, not below /proc.
awk -v pid="$(daemon_pid)" '$2 == 16 && $3 == pid { found = 1 } END { exit !found }' \
  /proc/net/netlink || fail "the kernel's taskstats are not asked"
run_pod 1
driver=cgroupfs
run_pod 2
for pod in 1 2; do placed "$pod"; done
status_is() { [[ $(systemctl show --value --property=StatusText kata-cgroupd) == "$1" ]]; }
wait_for 30 "the counts are in the status" status_is "2 sandboxes, 0 degraded"
systemctl service-log-level kata-cgroupd debug
equal "log level" "$(systemctl service-log-level kata-cgroupd)" debug
cgctl reconcile "$(pod_id 1)"
[[ -n $(said --priority=debug..debug | head -n 1) ]] || fail "nothing more is told at level debug"
systemctl service-log-level kata-cgroupd info
say "it uses $(systemctl show --value --property=MemoryCurrent kata-cgroupd) bytes"
systemctl restart kata-cgroupd # now it begins with a copy of the node's mounts
for pod in 1 2; do
  id=$(pod_id "$pod")
  placed "$pod"
  stop_pod "$pod"
  nothing_left "$pod" "$id"
done
wait_for 30 "the counts are in the status" status_is "0 sandboxes, 0 degraded"
umount "$bundles"
absent in_daemon "$bundles" || fail "the daemon holds what the node has let go"
quiet

# The same unit with another program: the probe. Without the unit it gets all it asks for.
for directory in /root /home /tmp /var/tmp; do echo secret >"$directory/secret"; done
printf '\xb8\x14\x00\x00\x00\xcd\x80\xc3' >/usr/local/lib/abi32
stranger=$(pgrep --oldest dbus-daemon)
confined=/run/systemd/system/confined.service
mkdir -p "$confined.d"
grep -v ^BusName= "$unit" >"$confined" # two units cannot have the same
cat >"$confined.d/probe.conf" <<END
[Service]
Type=oneshot
ExecStart=
ExecStart=/run/node/case/probe $cgroups/probed $stranger
Restart=no
WatchdogSec=0
RuntimeDirectory=
StandardOutput=truncate:/run/asked
END
systemctl daemon-reload
systemctl start confined || fail "the probe fails"
say "$(wc -l </run/asked) things were asked for"
equal "open under the unit" "$(grep -v ': closed$' /run/asked | sort)" \
  "$(printf '%s\n' "groups: open" "sched_setaffinity: open")"
case/probe "$cgroups/probed" "$stranger" >/run/asked-freely
equal "not open without it" "$(grep -v ': open$' /run/asked-freely || true)" ""
