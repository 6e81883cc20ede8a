# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What Kata keeps below /run for a sandbox. persist.json has the fields that say something about
# processes, groups and limits; it is written in place, so a reader may see half of it.

state_directory() { echo "/run/vc/sbs/$sandbox"; }
vm_directory() { echo "/run/vc/vm/$sandbox"; }

make_directories() {
  mkdir -p "$(state_directory)" "$(vm_directory)" \
    "/run/kata-containers/shared/sandboxes/$sandbox/shared"
}
remove_directories() {
  rm -rf "$(state_directory)" "$(vm_directory)" "/run/kata-containers/shared/sandboxes/$sandbox"
}

# change_state FILTER [JQ-ARGUMENT...]: one writer at a time, as in Kata's one process.
change_state() {
  local file
  file=$(state_directory)/persist.json
  (
    flock 9
    text=$(jq "${@:2}" "$1" "$file")
    echo "$text" >"$file"
  ) 9>"$home/$sandbox/lock"
}

# One entry of Config.ContainerConfigs, from a bundle's config.json.
entry='$bundle[0] | {ID: $id, Annotations: .annotations, Resources: .linux.resources}'

# write_state STATE: of a new sandbox
write_state() {
  local path overhead=
  path=$(kata_directory)
  path=${path#"$cgroups"}
  if has_scope; then path=$(sandbox_path); fi
  [[ $SANDBOX_CGROUP_ONLY == true ]] || overhead=/kata_overhead/$sandbox
  echo '{}' >"$(state_directory)/persist.json"
  change_state '{CgroupPaths: null, Devices: null, State: $state, SandboxContainer: $id,
    SandboxCgroupPath: $path, OverheadCgroupPath: $overhead,
    HypervisorState: {Type: "qemu", Pid: $pid, VirtiofsDaemonPid: $virtiofsd, HotpluggedMemory: 0},
    Config: {HypervisorType: "qemu", SandboxCgroupOnly: $only,
      HypervisorConfig: {MemorySize: $memory, NumVCPUsF: $vcpus},
      ContainerConfigs: ['"$entry"']}, PersistVersion: 2}' \
    --arg state "$1" --arg id "$sandbox" --arg path "$path" --arg overhead "$overhead" \
    --argjson pid "$(<"$own/pid")" \
    --argjson virtiofsd "$(cat "$own/virtiofsd" 2>/dev/null || echo 0)" --argjson only "$SANDBOX_CGROUP_ONLY" \
    --argjson memory "$MEMORY_MIB" --argjson vcpus "$VCPUS" --slurpfile bundle "$config"
}

# add_container CONFIG
add_container() {
  change_state ".Config.ContainerConfigs += [$entry]" --arg id "$id" --slurpfile bundle "$1"
}

# update_container RESOURCES: zero means "as before"
update_container() {
  change_state '(.Config.ContainerConfigs[] | select(.ID == $id) | .Resources) *=
    ($new | with_entries(select(.value | type == "object"))
      | map_values(with_entries(select(.value != 0 and .value != "" and .value != null))))' \
    --arg id "$id" --argjson new "$1"
}

remove_container() {
  [[ -e $(state_directory)/persist.json ]] || return 0
  change_state 'del(.Config.ContainerConfigs[] | select(.ID == $id))' --arg id "$id"
}
