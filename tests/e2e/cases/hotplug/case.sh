# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
start_daemon
run_pod 1
placed 1
plug_vcpu 1 2
has_vcpus() { [[ $(places 1 | grep -c '/vcpu$') == "$1" && $(listed "$(pod_id 1)" | jq .vcpus) == "$1" ]]; }
wait_for 30 "a third vCPU" has_vcpus 3
placed 1
equal "weight of the vCPUs" "$(value "$(nested_group 1)/vcpu" cpu.weight)" 300
