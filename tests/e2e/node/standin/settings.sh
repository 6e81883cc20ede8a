# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# How Kata is configured. A case changes it with kata_settings (../kata.sh).

SANDBOX_CGROUP_ONLY=true
OWN_GROUP=true     # false: makes no group or scope at all, and stays where the engine is
STOP_SCOPE=false   # true: at the end has systemd stop its scope, with itself in it, as Kata does
DEVICE_RULES=false # true: attaches a device program to the group it makes (cgroupfs driver)
VCPUS=2
MAX_VCPUS=4
MEMORY_MIB=128
VIRTIOFSD=true     # false: shares no files with the guest
GUEST=halt         # what the vCPUs do: halt, spin, or eat (all of the guest's memory)
CONTAINER=idle     # what a container's process does: idle, or spin
PAUSED=false       # true: the VM waits for QMP's "cont"
THREAD_NAMES=false # Kata names the threads of QEMU only when it is debugged
# shellcheck source=/dev/null
[[ ! -r /etc/kata-standin.conf ]] || . /etc/kata-standin.conf
