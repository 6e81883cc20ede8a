# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# A real QEMU, named as Kata names it. Its guest is a firmware of a few instructions.

# patch FILE OFFSET BYTES
patch() { printf '%b' "$3" | dd of="$1" bs=1 seek=$(($2)) conv=notrunc status=none; }

# The first processor starts at ffff0 and jumps to ff100, where it borrows a flat data segment to
# reach all memory and its local APIC.
firmware() {
  local file=$1
  truncate -s 64K "$file"
  case $GUEST in
    halt) patch "$file" 0xfff0 '\xfa\xf4\xeb\xfd' && return ;; # cli; hlt; jmp to hlt
  esac
  patch "$file" 0xfff0 '\xe9\x0d\xf1' # jmp ff100
  patch "$file" 0xf000 '\xeb\xfe'     # where the other processors wake up: jmp to itself
  # cli; ds = cs; lgdt [f180]; protected mode on; ds = 8; protected mode off
  patch "$file" 0xf100 '\xfa\x8c\xc8\x8e\xd8\x66\x0f\x01\x16\x80\xf1\x0f\x20\xc0\x0c\x01\x0f\x22\xc0'
  patch "$file" 0xf113 '\xbb\x08\x00\x8e\xdb\x24\xfe\x0f\x22\xc0'
  patch "$file" 0xf180 '\x0f\x00\x90\xf1\x0f\x00'
  patch "$file" 0xf190 '\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00\x00\x93\xcf\x00'
  case $GUEST in
    spin) # INIT and startup to all others; jmp to itself
      patch "$file" 0xf11d '\x66\xbb\x00\x03\xe0\xfe\x67\x66\xc7\x03\x00\x45\x0c\x00'
      patch "$file" 0xf12b '\x67\x66\xc7\x03\xff\x46\x0c\x00\xeb\xfe'
      ;;
    eat) # ebx = 1 MiB; for ever: write there, one page on
      patch "$file" 0xf11d '\x66\xbb\x00\x00\x10\x00\x67\x66\x89\x1b\x66\x81\xc3\x00\x10\x00\x00'
      patch "$file" 0xf12e '\xeb\xf3'
      ;;
  esac
}

# Children of the shim once this program has ended; virtiofsd starts another one in namespaces of
# its own. It ends with QEMU.
start_virtiofsd() {
  local socket=$1
  /usr/libexec/virtiofsd --cache=auto --socket-path="$socket" \
    --shared-dir="/run/kata-containers/shared/sandboxes/$sandbox/shared" \
    </dev/null >"$own/virtiofsd.log" 2>&1 &
  echo -n $! >"$own/virtiofsd"
  until [[ -S $socket ]]; do
    alive "$(<"$own/virtiofsd")" || { cat "$own/virtiofsd.log" >&2 && exit 1; }
    sleep 0.05
  done
}

# Ready when its monitor is.
start_vmm() {
  local vm
  vm=$(vm_directory)
  firmware "$vm/firmware"
  local arguments=(
    -name "sandbox-$sandbox$([[ $THREAD_NAMES == false ]] || echo ,debug-threads=on)"
    -uuid "$(</proc/sys/kernel/random/uuid)"
    -machine "q35,accel=kvm" -cpu host
    -qmp "unix:$vm/qmp.sock,server=on,wait=off"
    -m "${MEMORY_MIB}M" -bios "$vm/firmware"
    -device "vhost-vsock-pci,guest-cid=$((0x${sandbox:0:7} + 3))"
    -object "iothread,id=io0"
    -no-user-config -nodefaults -nographic --no-reboot
    -pidfile "$vm/pid"
    -smp "$VCPUS,cores=1,threads=1,sockets=$MAX_VCPUS,maxcpus=$MAX_VCPUS"
  )
  [[ $PAUSED == false ]] || arguments+=(-S)
  if [[ $VIRTIOFSD == true ]]; then
    start_virtiofsd "$vm/vhost-fs.sock"
    arguments+=(
      -object "memory-backend-file,id=dimm1,size=${MEMORY_MIB}M,mem-path=/dev/shm,share=on"
      -numa "node,memdev=dimm1"
      -chardev "socket,id=char-fs,path=$vm/vhost-fs.sock"
      -device "vhost-user-fs-pci,chardev=char-fs,tag=kataShared"
    )
  fi
  qemu-system-x86_64 "${arguments[@]}" </dev/null >"$own/qemu.log" 2>&1 &
  echo -n $! >"$own/pid"
  until [[ -s $vm/pid && -S $vm/qmp.sock ]]; do
    alive "$(<"$own/pid")" || { cat "$own/qemu.log" >&2 && exit 1; }
    sleep 0.05
  done
}
