# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
kata_settings MEMORY_MIB=64 VIRTIOFSD=false
start_daemon
run_pod 1
run_container 1 first 64 20000
driver=cgroupfs
run_pod 2
placed 1
placed 2
left=$(pod_id 2)

# groups: all of them with their marks, members and limits
groups() {
  local group
  find "$cgroups" -name '*kata*' -type d | sort | while read -r group; do
    find "$group" -type d
    getfattr --absolute-names --dump --match=- -R "$group"
    grep -rs . "$group" --include=cgroup.procs --include=cgroup.threads --include='*.max' \
      --include=cpu.weight --include=cpuset.cpus || true
  done
}

# another RUN-ROOT: as tools/quickstart runs its own
another() {
  mkdir -p "$1/run"
  printf '[layout]\nsandbox_cgroup_only = true\n[systemd]\naddress = "none"\n' >"$1/config.toml"
  /usr/libexec/kata-cgroupd --config "$1/config.toml" --bus none --run-root "$1" >"$1/log" 2>&1 &
  other=$!
  ready() { grep -q ' 0 sandboxes' "$1/log" || { cat "$1/log" && return 1; }; }
  wait_for 30 "the other daemon is ready" ready "$1"
}

# Also what no daemon of its own looks after, not even a bundle, is none of the other's.
systemctl stop kata-cgroupd
stop_pod 2
[[ -n $(find "$cgroups" -name "kata-sandbox-$left*") ]] || fail "nothing is left of pod 2"
before=$(groups)
another /run/other
equal "groups beside the other daemon" "$(groups)" "$before"
kill -KILL "$other"
another /run/other
equal "groups beside the other daemon, killed and started again" "$(groups)" "$before"

systemctl start kata-cgroupd
wait_for 30 "the groups of pod 2 go" ours_gone "$left"
run_pod 3
placed 1
placed 3
kill "$other"
wait "$other" || fail "the other daemon ends with status $?"
if grep -E 'found|gone|[Rr]emov' /run/other/log; then fail "the other daemon saw more than its own"; fi
placed 1
placed 3
equal "sandboxes" "$(cgctl list --json | jq '.sandboxes | length')" 2
