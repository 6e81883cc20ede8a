# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# The groups that Kata makes on cgroup v2, and what it does to them later.

cgroups=/sys/fs/cgroup

sandbox_path() { cat "$home/$sandbox/path"; }
by_systemd() { [[ $1 == *.slice:*:* ]]; }

# "slice:prefix:name" -> the scope's unit, and the slice's directory
unit_of() {
  local rest=${1#*:}
  echo "${rest%%:*}-${rest#*:}.scope"
}
slice_directory() {
  local slice=${1%%:*} directory=$cgroups part='' word
  local words
  IFS=- read -ra words <<<"${slice%.slice}"
  for word in "${words[@]}"; do
    part+=${part:+-}$word
    directory+=/$part.slice
  done
  echo "$directory"
}

# Where Kata puts the sandbox, or with sandbox_cgroup_only=false the hypervisor. Kata's legacy way
# does not know slices: with such a path it makes a literal directory at the top.
kata_directory() {
  local path
  path=$(sandbox_path)
  if ! by_systemd "$path"; then
    echo "$cgroups$(dirname "$path")/kata_$(basename "$path")"
  elif [[ $SANDBOX_CGROUP_ONLY == true ]]; then
    echo "$(slice_directory "$path")/$(unit_of "$path")"
  else
    echo "$cgroups/$path"
  fi
}
overhead_directory() { echo "$cgroups/kata_overhead/$sandbox"; }
has_scope() { [[ $SANDBOX_CGROUP_ONLY == true ]] && by_systemd "$(sandbox_path)"; }

make_groups() {
  [[ $OWN_GROUP == true ]] && ! has_scope || return 0
  local directory
  directory=$(kata_directory)
  by_systemd "$(sandbox_path)" || echo '+cpuset +cpu' >"${directory%/*}/cgroup.subtree_control"
  mkdir "$directory"
  [[ $DEVICE_RULES == false ]] || "$here/device-rules" attach "$directory"
  [[ $SANDBOX_CGROUP_ONLY == true ]] || mkdir -p "$(overhead_directory)"
}

# enter_group SHIM SELF
enter_group() {
  local directory
  if [[ $OWN_GROUP != true ]]; then
    return
  elif has_scope; then
    start_scope "$@"
    return
  elif [[ $SANDBOX_CGROUP_ONLY == true ]]; then
    directory=$(kata_directory)
  else
    directory=$(overhead_directory)
  fi
  echo "$1" >"$directory/cgroup.procs"
  echo "$2" >"$directory/cgroup.procs"
}

# The scope is asked for with the processes that are to be in it; systemd moves them. While systemd
# executes itself anew it answers nobody, or does what it was asked and cannot say so any more.
has_processes() {
  local unit=$1 pid
  shift
  for pid in "$@"; do [[ $(<"/proc/$pid/cgroup") == *"/$unit"* ]] || return; done
}
start_scope() {
  local path unit
  path=$(sandbox_path)
  unit=$(unit_of "$path")
  until busctl -q call org.freedesktop.systemd1 /org/freedesktop/systemd1 \
    org.freedesktop.systemd1.Manager StartTransientUnit 'ssa(sv)a(sa(sv))' "$unit" replace 7 \
    Description s "cgroup $unit" DefaultDependencies b false MemoryAccounting b true \
    CPUAccounting b true Slice s "${path%%:*}" Delegate b true PIDs au 2 "$1" "$2" 0 ||
    has_processes "$unit" "$@"; do
    log "asks systemd again"
  done
  until has_processes "$unit" "$@"; do sleep 0.05; done
}

# With sandbox_cgroup_only=false Kata attaches the vCPUs anew at each change of a container. On v2
# that takes the whole hypervisor along.
hold_vmm() {
  [[ $OWN_GROUP == true && $SANDBOX_CGROUP_ONLY == false ]] || return 0
  cat "$home/$sandbox/pid" >"$(kata_directory)/cgroup.procs"
  log "put QEMU back into $(kata_directory)"
}

# What makes the next container of a pod fail when somebody has emptied Kata's scope.
require_group() {
  [[ $OWN_GROUP != true || -e $(kata_directory)/cgroup.procs ]] && return
  echo "failed to create shim task: open $(kata_directory)/cgroup.procs: no such file" >&2
  exit 1
}

# Once, without a word about failure. A scope also goes by itself when the shim has gone.
remove_groups() {
  if [[ $STOP_SCOPE == true ]] && has_scope; then
    systemctl stop --no-block "$(unit_of "$(sandbox_path)")" 2>>"$home/log" || true
  fi
  [[ $OWN_GROUP == true ]] && ! has_scope || return 0
  local directory
  for directory in "$(kata_directory)" "$(overhead_directory)"; do
    [[ ! -d $directory ]] || rmdir "$directory" 2>>"$home/log" || true
  done
}
