# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# The quickstart's own world: a directory, processes with their identity, and an end for all of it.

bus_name=io.katacontainers.CgroupManager1
pod_uid=11111111-2222-3333-4444-555555555555
number=0
# What --keep must remember for --end.
state=(dir top id container bus bus_process daemon_process shim_process we_mounted_debugfs enabled)

step() {
  number=$((number + 1))
  printf '\n[%d] %s\n' "$number" "$1"
}

die() {
  printf 'quickstart: %s\n' "$@" >&2
  exit 1
}

# Runs a command until it succeeds; gives up after so many seconds. (Not `read -t`: bash 5.2 can
# crash when a trap interrupts that, and then nothing would be cleaned up.)
await() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@" &>/dev/null; do
    ((SECONDS < deadline)) || return 1
    sleep 0.05
  done
}

# pid:start time, so that an end cannot meet a stranger with a reused pid.
identity() { echo "$1:$(awk '{ sub(/.*\) /, ""); print $20 }' "/proc/$1/stat")"; }
alive() { [[ -n ${1:-} && $(identity "${1%:*}" 2>/dev/null) == "$1" ]]; }
not_running() { ! alive "$1" || [[ $(awk '{ sub(/.*\) /, ""); print $1 }' "/proc/${1%:*}/stat") == Z ]]; }

# Ends one process: politely, then not.
end_process() {
  alive "${1:-}" || return 0
  kill -TERM "${1%:*}"
  await 10 not_running "$1" || kill -KILL "${1%:*}"
}

random_id() { od -An -N32 -tx1 -v /dev/urandom | tr -d ' \n'; }

# Programs of ours that carry our directory in their arguments: those that were started in the very
# moment of an interruption, or whose parent died.
strays() {
  local process
  for process in /proc/[0-9]*; do
    case $(cat "$process/comm" 2>/dev/null) in
      dbus-daemon | kata-cgroupd | containerd-shim | qemu-system-x86)
        ! grep -qF "$dir/" "$process/cmdline" || identity "${process##*/}" ;;
    esac
  done 2>/dev/null
}

begin() {
  dir=$(mktemp -d /tmp/kcg-quickstart.XXXXXX)
  top=${dir##*/}
  id=$(random_id) container=$(random_id)
  bus="" bus_process="" daemon_process="" shim_process=""
  we_mounted_debugfs=false
  enabled=()
  choose_accelerator
}
save() { declare -p "${state[@]}" | sed 's/^declare/declare -g/' >"$dir/quickstart.state"; }
resume() {
  [[ $1 == /tmp/kcg-quickstart.?????? && -f $1/quickstart.state ]] ||
    die "$1: not the directory of a quickstart that was kept"
  # shellcheck source=/dev/null
  . "$1/quickstart.state"
}

start_bus() {
  cat >"$dir/bus.conf" <<END
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path=$dir/bus</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_destination="*"/>
    <allow receive_sender="*"/>
  </policy>
</busconfig>
END
  setsid dbus-daemon --nofork --config-file="$dir/bus.conf" --print-address=3 \
    3>"$dir/bus.address" &>"$dir/bus.log" &
  bus_process=$(identity $!)
  await 10 test -s "$dir/bus.address" || die "the D-Bus daemon did not start" "$(<"$dir/bus.log")"
  bus=$(<"$dir/bus.address")
}

start_daemon() {
  cat >"$dir/config.toml" <<END
[layout]
sandbox_cgroup_only = true
[systemd]
address = "none"
END
  setsid build/daemon/kata-cgroupd --config "$dir/config.toml" --bus "$bus" --run-root "$dir" --log-level debug \
    &>"$dir/daemon.log" &
  daemon_process=$(identity $!)
  # The name is claimed last, after the first look at everything.
  await 20 has_owner || die "the daemon did not claim its bus name"
}
has_owner() {
  [[ $(busctl --address="$bus" call org.freedesktop.DBus /org/freedesktop/DBus \
    org.freedesktop.DBus NameHasOwner s $bus_name) == "b true" ]]
}

cgctl() { build/tools/cgctl/cgctl --bus "$bus" "$@"; }

# Ends everything, in whatever state it is.
end_all() {
  local stray
  end_sandbox
  end_process "$daemon_process"
  end_process "$bus_process"
  for stray in $(strays); do end_process "$stray"; done
  remove_groups
  ! $we_mounted_debugfs || umount /sys/kernel/debug || true
  rm -rf "$dir"
}

# The way out when something went wrong, or at Ctrl-C.
failed() {
  trap '' INT TERM HUP
  trap - EXIT
  set +e
  if (($1 != 0 && $1 < 128)) && [[ -s $dir/daemon.log ]]; then
    printf -- '---- what the daemon said\n%s\n----\n' "$(tail -n 40 "$dir/daemon.log")" >&2
  fi
  end_all
  exit "$1"
}
