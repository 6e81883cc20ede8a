# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# The daemon, as its own unit runs it, and what it says.

# start_daemon [TOML]: with the sample configuration and these lines.
start_daemon() {
  mkdir -p /etc/kata-cgroupd/config.d
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

# conditions ID: their names in order, in one line.
conditions() { cgctl show --json "$1" | jq -r '[.conditions[].name] | sort | join(" ")'; }
