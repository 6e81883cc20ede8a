# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
kata_settings MEMORY_MIB=64 VIRTIOFSD=false
start_daemon
run_pod 1
run_container 1 first 64 20000
placed 1
victim=$(pod_id 1)
resident() { sed -n 's/^VmRSS:\s*\([0-9]*\) kB/\1/p' "/proc/$(daemon_pid)/status"; }
before=$(resident)

# members POD: the processes in its groups, and those that are its own
members() { sort -n "$cgroups$(sandbox_group "$1")/cgroup.procs"; }
its_own() { witness "$(pod_id "$1")" | cut -f1 | sort -nu; }

mkdir -m 700 /run/attack
cp /run/node/impostor /run/attack/qemu-system-x86_64
cp /run/node/impostor /run/attack/containerd-shim-kata-v2
cp /run/node/case/attack /run/node/flood /run/attack/
chown -R games:games /run/attack
systemd-run --quiet --unit=attacker --uid=games --gid=games --property=Delegate=yes \
  --property=TasksMax=4000 --setenv=VICTIM="$victim" /run/attack/attack
# As from inside a container with all privileges but the node's pid namespace.
mkdir /run/container
cp /run/node/impostor /run/container/containerd-shim-kata-v2
unshare --pid --fork --kill-child --mount-proc env EXECS=300 CHILDREN=20 \
  /run/container/containerd-shim-kata-v2 -namespace k8s.io -id "$victim" -address /run/c.sock &
container=$!
wait_for 60 "the attack" test -s /run/attack/ready
group=/system.slice/attacker.service
say "the attack is on: $(find "$cgroups$group" -name cgroup.procs -exec cat {} + | wc -l) processes"

# intact: nobody is where he does not belong, and nothing is known that is not there.
intact() {
  local pod
  for pod in "$@"; do equal "members of pod $pod" "$(members "$pod")" "$(its_own "$pod")"; done
  equal "sandboxes" "$(cgctl list --json | jq -r '.sandboxes[].sandbox' | sort)" \
    "$(for pod in "$@"; do pod_id "$pod"; done | sort)"
  [[ -d $cgroups$group/kata-sandbox-$victim ]] || fail "a stranger's group was removed"
  # shellcheck disable=SC2046
  equal "groups of the strangers" "$(for pid in $(</run/attack/pids); do
    group_of "$pid"
  done | grep -v "^$group" || true)" ""
}
run_pod 2
placed 2
intact 1 2
systemctl restart kata-cgroupd # which looks at all marks
placed 1
run_pod 3
placed 3
intact 1 2 3
grew=$(($(resident) - before))
say "the daemon has $grew KiB more"
between "growth of the daemon, KiB" "$grew" -20000 8192
for pod in 1 2 3; do equal "conditions" "$(conditions "$(pod_id "$pod")")" ""; done

stop_pod 2
systemctl stop attacker
kill -KILL "$container"
stop_pod 1
nothing_left 1 "$victim"
placed 3
