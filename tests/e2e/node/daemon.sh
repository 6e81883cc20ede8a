# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# The daemon, as its own unit runs it, and what it says.

# A case that waits as long as the resync would prove the resync, not the event it waits for.
resync=24h

# start_daemon [TOML]: with the sample configuration and these lines.
start_daemon() {
  mkdir -p /etc/kata-cgroupd/config.d
  printf '[reconcile]\ninterval = "%s"\n' "$resync" >/etc/kata-cgroupd/config.d/node.toml
  printf '%s\n' "${1:-}" >/etc/kata-cgroupd/config.d/case.toml
  systemctl start kata-cgroupd || fail "the daemon does not start"
  say "the daemon runs"
}

daemon_pid() { systemctl show --value --property=MainPID kata-cgroupd; }

# another_daemon PID: than this one runs
another_daemon() { [[ $(daemon_pid) != 0 && $(daemon_pid) != "$1" ]]; }

# listed ID: what cgctl tells of one sandbox, as JSON; fails if it does not know it.
listed() { cgctl list --json | jq -e --arg id "$1" '.sandboxes[] | select(.sandbox == $id)'; }

unknown() { cgctl list --json | jq -e --arg id "$1" 'all(.sandboxes[]; .sandbox != $id)'; }

# conditions ID: their names in order, in one line, without those that the summary tolerates.
conditions() {
  cgctl show --json "$1" | jq -r --argjson tolerated "$tolerated" \
    '[.conditions[].name] - $tolerated | sort | join(" ")'
}

# traced FILE: writes down what the daemon opens, makes, writes and removes, until untraced.
traced() {
  strace --follow-forks --decode-fds=path --output="$1" --attach="$(daemon_pid)" \
    --trace=openat,openat2,write,pwrite64,mkdir,mkdirat,rmdir,unlinkat,setxattr,fsetxattr &
  tracer=$!
  wait_for 30 "strace is there" grep -q "TracerPid:.[1-9]" "/proc/$(daemon_pid)/status"
}
untraced() {
  kill "$tracer"
  wait "$tracer" || true
}
