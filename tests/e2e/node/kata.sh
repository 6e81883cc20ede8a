# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Kata's side: how its stand-in is configured, and a pod's hypervisor.

# kata_settings KEY=VALUE...: for pods that start later; the keys and their defaults are in
# tests/support/standin/node_settings.cpp. Kata's own file says the same.
kata_settings() {
  printf '%s\n' "$@" >/etc/kata-standin.conf
  mkdir -p /etc/kata-containers
  printf '[hypervisor.qemu]\ndefault_memory = %d\n[runtime]\nenable_vcpus_pinning = %s\n' \
    "$(kata_setting MEMORY_MIB)" "$(kata_setting PINNING)" >/etc/kata-containers/configuration.toml
}

# kata_setting KEY: as it is now
kata_setting() { /run/node/standin/runc setting "$1"; }

vmm_pid() { cat "/run/vc/vm/$(pod_id "$1")/pid"; }
shim_pid() { cat "$bundles/$(pod_id "$1")/shim.pid"; }

container_pid() { cat "/run/kata-standin/$(container_id "$1" "$2")/pid"; }

# begin_paused POD: with PAUSED=true: its hypervisor does nothing before it is in its place.
begin_paused() {
  run_pod "$1"
  waits() { [[ $(group_of "$(vmm_pid "$1")") == "$(sandbox_group "$1")/vmm" ]]; }
  wait_for 30 "the paused hypervisor of pod $1 is placed" waits "$1"
  qmp "$1" cont
}

# touched POD: with GUEST=touch: all of the guest's memory is in use. On an emulated node a guest is
# lost now and then: it begins anew, and what it has touched stays so.
touched() {
  local try pages=$((($(<"/run/pods/$1/boot") - 4) * 256))
  resident() {
    local has
    has=$(awk '{ print $2 }' "/proc/$(vmm_pid "$1")/statm")
    ((has > pages)) || { echo "$has of $pages pages" && false; }
  }
  for try in 1 2 3; do
    if (within 60 "its memory is touched" resident "$1") >/dev/null; then return; fi
    say "the guest of pod $1 begins anew: $(resident "$1" || true)"
    qmp "$1" set-action '{"reboot": "reset"}'
    qmp "$1" system_reset
  done
  fail "the guest of pod $1 has begun $try times and not touched its memory"
}

# grown POD: its hypervisor is so old that no clock of the daemon's leads to another look at it, and
# what is seen of it from now on was told.
grown() {
  old() { (($(ps --no-headers -o etimes --pid "$(vmm_pid "$1")") > 35)); }
  wait_for 60 "the hypervisor of pod $1 has grown up" old "$1"
}

# plug_vcpu POD SOCKET: numbers begin at 0; those that the VM began with are taken
plug_vcpu() {
  qmp "$1" device_add "{\"driver\": \"host-x86_64-cpu\", \"id\": \"cpu-$2\", \"socket-id\": $2, \"core-id\": 0, \"thread-id\": 0}"
}

# qmp POD COMMAND [ARGUMENTS]: to the pod's QEMU, which the shim does on behalf of the guest
qmp() {
  local arguments=${3:-}
  [[ -n $arguments ]] || arguments='{}'
  {
    echo '{"execute": "qmp_capabilities"}'
    echo "{\"execute\": \"$2\", \"arguments\": $arguments}"
  } | python3 -IS /run/node/qmp "/run/vc/vm/$(pod_id "$1")/qmp.sock" || fail "QEMU does not take $2"
}
