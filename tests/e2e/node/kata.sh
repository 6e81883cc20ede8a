# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Kata's side: how its stand-in is configured, and a pod's hypervisor.

# kata_settings KEY=VALUE...: for pods that start later; see standin/settings.sh.
kata_settings() { printf '%s\n' "$@" >/etc/kata-standin.conf; }

vmm_pid() { cat "/run/vc/vm/$(pod_id "$1")/pid"; }
shim_pid() { cat "$bundles/$(pod_id "$1")/shim.pid"; }

# qmp POD COMMAND [ARGUMENTS]: to the pod's QEMU, which the shim does on behalf of the guest
qmp() {
  local arguments=${3:-}
  [[ -n $arguments ]] || arguments='{}'
  {
    echo '{"execute": "qmp_capabilities"}'
    echo "{\"execute\": \"$2\", \"arguments\": $arguments}"
  } | python3 -IS /run/node/qmp "/run/vc/vm/$(pod_id "$1")/qmp.sock" || fail "QEMU does not take $2"
}
