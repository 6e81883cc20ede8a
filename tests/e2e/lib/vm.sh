# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# The virtual machine that is a node. QEMU is the one of the node's own packages, so that no case
# depends on the host's; it runs through that root's own dynamic linker. What it is given must be
# the same when a node is frozen and when it is resumed, but for what stands behind the devices.

node_memory_mib=1536

# run_qemu IMAGE WORK DISK [ARGUMENT...]: becomes QEMU, with WORK/{payload,log,status,monitor}.
run_qemu() {
  local root=$1/root image=$1 work=$2 disk=$3
  shift 3
  # Its modules, or it looks for them in the host's root.
  export QEMU_MODULE_DIR=$root/usr/lib/x86_64-linux-gnu/qemu
  exec "$root/lib64/ld-linux-x86-64.so.2" --library-path "$root/usr/lib/x86_64-linux-gnu" \
    "$root/usr/bin/qemu-system-x86_64" \
    -L "$root/usr/share/qemu" -L "$root/usr/share/seabios" -L "$root/usr/lib/ipxe/qemu" \
    -machine q35 -accel tcg,thread=multi,tb-size=512 -cpu max -smp 2 \
    -m "$node_memory_mib" -nodefaults -display none -no-reboot \
    -drive "file=$disk,if=none,id=root,format=raw,cache=unsafe" \
    -device virtio-blk-pci,drive=root,serial=root \
    -drive "file=$work/payload,if=none,id=payload,format=raw,readonly=on" \
    -device virtio-blk-pci,drive=payload,serial=payload \
    -device virtio-serial-pci \
    -chardev "file,id=log,path=$work/log" -device virtserialport,chardev=log,name=log \
    -chardev "file,id=status,path=$work/status" -device virtserialport,chardev=status,name=status \
    -qmp "unix:$work/monitor,server=on,wait=off" \
    -kernel "$image/vmlinuz" -initrd "$image/initrd" \
    -append "console=ttyS0 quiet panic=-1 psi=1 systemd.show_status=0 mitigations=off nokaslr
      audit=0 selinux=0 apparmor=0 random.trust_cpu=on" "$@"
}

# prepare_work WORK: an empty payload disk of a fixed size, which is part of what is frozen.
prepare_work() {
  mkdir -p "$1"
  : >"$1/log"
  : >"$1/status"
  [[ -e $1/payload ]] || : >"$1/payload"
  truncate -s 64M "$1/payload"
}

# freeze IMAGE FROZEN: boots a node until it is ready and keeps its disk and its state.
freeze() {
  local image=$1 frozen=$2 qemu deadline=$((SECONDS + 600))
  rm -rf "$frozen.new"
  prepare_work "$frozen.new"
  cp --sparse=always "$image/disk" "$frozen.new/disk"
  run_qemu "$image" "$frozen.new" "$frozen.new/disk" -serial "file:$frozen.new/console" &
  qemu=$!
  until grep -q '^READY' "$frozen.new/log"; do
    if ! kill -0 "$qemu" 2>/dev/null || ((SECONDS > deadline)); then
      echo "the node does not come up:" >&2
      cat "$frozen.new/log" "$frozen.new/console" >&2
      kill "$qemu" 2>/dev/null
      return 1
    fi
    sleep 0.2
  done
  if ! "$here/lib/qmp" "$frozen.new/monitor" save "$frozen.new/state"; then
    kill "$qemu" # it has the lock of who makes something
    return 1
  fi
  wait "$qemu"
  rm -f "$frozen.new/payload" "$frozen.new/monitor"
  mv "$frozen.new" "$frozen"
}

# resume IMAGE FROZEN WORK SECONDS [ARGUMENT...]: runs WORK/payload on a pristine node. The status
# is the payload's; 124: not in time; 126: the node ended without a word.
resume() {
  local image=$1 frozen=$2 work=$3 seconds=$4 qemu
  shift 4
  prepare_work "$work"
  "$here/lib/qmp" "$work/monitor" resume &
  export -f run_qemu
  export node_memory_mib
  timeout --foreground -k 5 "$seconds" bash -c 'run_qemu "$@"' qemu "$image" "$work" \
    "$frozen/disk,snapshot=on" -incoming "exec:cat ${frozen@Q}/state" "$@"
  qemu=$?
  ((qemu == 124)) && return 124
  [[ -s $work/status ]] || return 126
  return "$(<"$work/status")"
}
