# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# The sandbox: bundles as containerd writes them, and a shim stand-in that forks a real QEMU
# (containerd-shim-kata-v2 --help).

shim_program=$PWD/build/tests/support/containerd-shim-kata-v2

# With KVM the threads stay nameless, as in production; the daemon asks KVM which are vCPUs. Without
# KVM, or without a debugfs to ask in, only names tell.
choose_accelerator() {
  thread_names=1
  if ! { [[ -c /dev/kvm ]] && : <>/dev/kvm; } 2>/dev/null; then
    accel_text="without KVM (/dev/kvm does not open), so its threads carry names"
  elif ! debugfs_possible; then
    accel_text="with KVM; no debugfs here, so its threads carry names"
  else
    thread_names=0
    accel_text="with KVM, and all its threads have the same name"
  fi
}

debugfs_possible() { [[ -d /sys/kernel/debug ]] && grep -qw debugfs /proc/filesystems; }
mount_debugfs() {
  if ((thread_names == 0)) && ! mountpoint -q /sys/kernel/debug; then
    mount -t debugfs none /sys/kernel/debug
    we_mounted_debugfs=true
  fi
}

bundle_of() { echo "$dir/run/containerd/io.containerd.runtime.v2.task/k8s.io/$1"; }

# write_bundle sandbox|container ID: the file appears in one piece, as containerd's does.
write_bundle() {
  local bundle
  bundle=$(bundle_of "$2")
  mkdir -p "$bundle"
  echo "$shim_program" >"$bundle/shim-binary-path"
  jq -n --arg type "$1" --arg id "$id" --arg path "/$top/pod$pod_uid/$2" --arg uid "$pod_uid" '{
      ociVersion: "1.1.0",
      annotations: {
        "io.kubernetes.cri.container-type": $type,
        "io.kubernetes.cri.sandbox-id": $id,
        "io.kubernetes.cri.sandbox-namespace": "demo",
        "io.kubernetes.cri.sandbox-name": "quickstart",
        "io.kubernetes.cri.sandbox-uid": $uid,
        "io.katacontainers.config.hypervisor.memory_overhead": "350",
        "io.containerd.cri.runtime-handler": "kata"
      },
      linux: {
        cgroupsPath: $path,
        resources: (if $type == "sandbox" then { cpu: { shares: 2 } } else {
          memory: { limit: 536870912 }, cpu: { shares: 1024, quota: 100000, period: 100000 } } end)
      }
    } | if $type == "container" then
      .annotations["io.kubernetes.cri.container-name"] = "busy" else . end' >"$bundle/config.new"
  mv "$bundle/config.new" "$bundle/config.json"
}

start_shim() {
  local bundle
  bundle=$(bundle_of "$id")
  (
    cd "$bundle" || exit
    STANDIN_RUN_ROOT=$dir STANDIN_GUEST=spin STANDIN_VCPUS=2 STANDIN_THREAD_NAMES=$thread_names \
      exec setsid "$shim_program" -namespace k8s.io -address "$dir/run/containerd/containerd.sock" \
      -publish-binary "" -id "$id" &>"$bundle/log"
  ) &
  shim_process=$(identity $!)
  await 30 control threads || die "the shim stand-in did not start QEMU" "$(<"$bundle/log")"
}

# control COMMAND...: asks the stand-in, and prints its answer.
control() { "$shim_program" --control "$dir/run/vc/sbs/$id/shim-monitor.sock" "$@"; }

# As containerd ends a pod: the shim takes its VMM with it, then the bundles go.
end_sandbox() {
  local bundle
  bundle=$(bundle_of "$id")
  end_process "$shim_process"
  # A shim that died by itself leaves its VMM: containerd calls this then.
  if [[ -f $dir/run/vc/sbs/$id/persist.json ]]; then
    STANDIN_RUN_ROOT=$dir "$shim_program" -namespace k8s.io -id "$id" -bundle "$bundle" delete || true
  fi
  rm -rf "$(bundle_of "$container")" "$bundle"
}
