# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
engine=/etc/containerd/config.toml
nri_is() { cgctl status --json | jq -e --arg state "$1" '.parts.NRI == $state'; }
# engine_with EXPRESSION STATE: containerd restarts with this change, and NRI becomes so.
engine_with() {
  sed -i "$1" "$engine"
  systemctl restart containerd
  wait_for 60 "containerd is back" engine_answers
  wait_for 60 "NRI is $2" nri_is "$2"
}
# explained POD TEXT: a source that explain names.
explained() {
  local text
  text=$(cgctl explain "$(pod_id "$1")")
  [[ $text == *"$2"* ]] || fail "cgctl explain of pod $1 does not name '$2': $text"
}
kata_settings MEMORY_MIB=64
pod_memory_mib=0 # else the limit would be the pod's
start_daemon
engine_with '/^ *\(pod\|container\)_annotations/d' working

run_pod 1
run_container 1 app
placed 1
explained 1 "in the pod (NRI)"

memory_overhead='' pod_overhead_mib=160
run_pod 2
echo 160 >/run/pods/2/overhead
run_container 2 app
placed 2
explained 2 "the pod's own overhead (NRI)"
update_container 2 app 512 75000
placed 2
explained 2 "the engine (NRI)"

engine_with '' working
update_container 2 app 640 60000
for pod in 1 2; do placed "$pod"; done

engine_with '/nri.v1.nri/,$ s/disable = false/disable = true/' down
for pod in 1 2; do placed "$pod"; done
memory_overhead=350 pod_overhead_mib=0
run_pod 3
echo >/run/pods/3/overhead # nobody tells us
run_container 3 app
placed 3
engine_with '/nri.v1.nri/,$ s/disable = true/disable = false/' working
echo 350 >/run/pods/3/overhead
for pod in 1 2 3; do placed "$pod"; done

memory_overhead=200 pod_overhead_mib=260
run_pod 4
echo 260 >/run/pods/4/overhead # the larger one counts
run_container 4 app
placed 4
memory_overhead='' pod_overhead_mib=0
run_pod 5
run_container 5 app
placed 5
overhead_source() { cgctl plan "$(pod_id "$1")" --json | jq -r .overhead.source; }
equal "whose overhead counts" "$(for pod in 1 2 3 4 5; do overhead_source "$pod"; done | xargs)" \
  "annotation pod annotation pod handler"

for pod in 1 2 3 4 5; do
  id=$(pod_id "$pod")
  stop_pod "$pod"
  nothing_left "$pod" "$id"
done
