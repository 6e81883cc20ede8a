# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
drop_in=/etc/kata-cgroupd/config.d/node.toml
tar=$(echo "$PWD"/case/tar/kata-cgroupd-*)
installed_tar=/usr/local/lib/kata-cgroupd/install.sh

# ours: files and directories of the project on the node, but for what this case brought
ours() {
  find / /run -xdev -path /run/node -prune -o \
    "(" -name '*kata-cgroup*' -o -name '*cgctl*' -o -name '*CgroupManager1*' ")" -print | sort
}

# packaged ARGUMENT...: apt as a script calls it, where nobody answers a question
packaged() {
  DEBIAN_FRONTEND=noninteractive apt-get --quiet --assume-yes -o Dpkg::Use-Pty=0 "$@" </dev/null 2>&1 ||
    fail "apt-get $*"
}

# serves VERSION: it is there, and its daemon runs; the shell forgets where programs were
serves() {
  hash -r
  equal "version of cgctl" "$(cgctl --version)" "cgctl $1"
  equal "state" "$(systemctl is-active kata-cgroupd)" active
  equal "at the next boot" "$(systemctl is-enabled kata-cgroupd)" enabled
  wait_for 30 "the daemon of $1 is on the bus" answers "$1"
  equal "catalog" "$(journalctl --list-catalog | grep -c kata-cgroupd | sed 's/^[1-9].*/some/')" some
  say "version $1 serves"
}
answers() {
  [[ $(busctl get-property io.katacontainers.CgroupManager1 /io/katacontainers/CgroupManager1 \
    io.katacontainers.CgroupManager1.Manager Version) == "s \"$1\"" ]]
}

# scraped LINE: Prometheus would see it
scraped() { [[ $(curl --silent http://127.0.0.1:9838/metrics) == *"$1"* ]]; }

# hypervisors POD...: pid and start time, so that a new one is no old one
hypervisors() {
  local pod pid
  for pod in "$@"; do
    pid=$(vmm_pid "$pod")
    echo "$pod $pid $(cut -d' ' -f22 "/proc/$pid/stat")"
  done
}

# live POD...: as they were when `remember` was called with the same ones, also in what limits them
remember() {
  hypervisors_before=$(hypervisors "$@")
  places_before=$(for pod in "$@"; do places "$pod"; done)
}
live() {
  local pod
  equal "hypervisors" "$(hypervisors "$@")" "$hypervisors_before"
  equal "places" "$(for pod in "$@"; do places "$pod"; done)" "$places_before"
  for pod in "$@"; do
    ((pod == 1)) || limits_hold "$pod" # nobody has limited it
  done
}

equal "what is there of ours before" "$(ours)" ""
mkdir -p "${drop_in%/*}"
printf '[reconcile]\ninterval = "%s"\n' "$resync" >"$drop_in"
written=$(<"$drop_in")
# A node that is fit: its containerd hands on what its Kata takes.
sed -i 's/^.hypervisor.qemu.$/&\nenable_annotations = ["memory_overhead"]/' /etc/kata-containers/configuration.toml
run_pod 1

say "installing"
remember 1
packaged install ./case/before/*.deb
serves 0.0.1
cgctl doctor || fail "the node is not fit"
equal "state of pod 1" "$(listed "$(pod_id 1)" | jq -r .state)" unmanaged
live 1
run_pod 2
run_container 2 first 128 50000
placed 2
equal "the exporter" "$(systemctl is-active kata-cgroup-exporter) $(systemctl is-enabled kata-cgroup-exporter)" \
  "inactive disabled"
systemctl enable --now kata-cgroup-exporter
wait_for 30 "metrics of pod 2" scraped "kata_sandbox_memory_overhead_declared_bytes{namespace=\"$(listed "$(pod_id 2)" | jq -r .pod.namespace)\""

say "upgrading"
echo "# edited" >>/etc/kata-cgroupd/config.toml
remember 1 2
packaged install ./case/now/*.deb
version=$(dpkg-query --show --showformat '${Version}' kata-cgroupd)
version=${version%~*}
serves "$version"
equal "what was edited" "$(tail -n 1 /etc/kata-cgroupd/config.toml)" "# edited"
live 1 2
placed 2
wait_for 30 "the new exporter" scraped "version=\"$version\""
update_container 2 first 192 30000
placed 2

say "removing"
remember 1 2
text=$(packaged remove kata-cgroupd kata-cgroup-exporter)
echo "$text"
[[ $text == *"$(pod_id 2)"* ]] || fail "it does not say that pod 2 is in groups of ours"
[[ $text != *"$(pod_id 1)"* ]] || fail "it names pod 1, which is in none"
refused systemctl is-active kata-cgroupd
# Of what dpkg and systemd's helper keep in their own books, only a purge rids the node.
equal "what stays" "$(ours | grep -v -e ^/var/lib/dpkg/info/ -e ^/var/lib/systemd/deb-systemd-helper-)" \
  "/etc/kata-cgroupd
/etc/systemd/system/multi-user.target.wants/kata-cgroup-exporter.service
/etc/systemd/system/multi-user.target.wants/kata-cgroupd.service
/run/kata-cgroupd
/var/lib/kata-cgroupd"
equal "files that stay" "$(find /etc/kata-cgroupd -type f | sort)" "$drop_in
/etc/kata-cgroupd/config.toml"
live 1 2

say "installing again"
packaged install ./case/now/*.deb
serves "$version"
live 1 2
placed 2
driver=cgroupfs run_pod 3
placed 3

say "purging"
remember 1 2 3
packaged purge kata-cgroupd kata-cgroup-exporter
live 1 2 3
equal "what stays" "$(ours)" "/etc/kata-cgroupd"
equal "files that stay" "$(find /etc/kata-cgroupd -type f)" "$drop_in"

say "the tar: installing, and again over itself"
"$tar/install.sh" || fail "the tar is not installed"
serves "$version"
for pod in 2 3; do placed "$pod"; done
"$tar/install.sh" || fail "the tar is not installed over itself"
serves "$version"
live 1 2 3
run_pod 4
placed 4
for pod in 1 2 3; do
  id=$(pod_id "$pod")
  stop_pod "$pod"
  nothing_left "$pod" "$id"
done

say "the tar: going"
remember 4
text=$("$installed_tar" --uninstall) || fail "the tar does not go: $text"
echo "$text"
[[ $text == *"$(pod_id 4)"* ]] || fail "it does not say that pod 4 is in groups of ours"
live 4
equal "what stays" "$(ours)" "/etc/kata-cgroupd"
equal "what was written" "$(find /etc/kata-cgroupd -type f -exec cat {} +)" "$written"
