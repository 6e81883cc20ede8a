# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
start_daemon
make_pod_cgroup 1
id=a9e1
group=$(relative "$(pod_directory 1)/kata-sandbox-$id.scope")
qemu-system-x86_64 -name "sandbox-$id" -machine q35 -accel kvm -cpu host -smp 2 -m 128 \
  -nodefaults -display none -daemonize -pidfile /run/vmm.pid
vmm=$(</run/vmm.pid)
cgctl register "$id" --cgroups-path "$(<"/run/pods/1/parent"):agent:$id" --vmm-pid "$vmm" \
  --memory-overhead 64M --container one:memory=134217728
cgctl reconcile "$id" # answers when systemd has
equal "group of the hypervisor" "$(group_of "$vmm")" "$group/vmm"
agreed "$id"
equal "vCPUs" "$(wc -l <"$cgroups$group/vcpu/cgroup.threads")" 2
equal "memory limit" "$(value "$group" memory.max)" $(((128 + 128 + 64) << 20))

kill "$vmm"
wait_for 30 "the scope goes" gone "$cgroups$group"
wait_for 30 "the registration goes with its last process" unknown "$id"
remove_pod_cgroup 1
