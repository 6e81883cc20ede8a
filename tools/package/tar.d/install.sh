#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Installs kata-cgroupd below /usr/local on a node whose distribution has no package of it, and starts
# it; also over an earlier version. With --uninstall, also as /usr/local/lib/kata-cgroupd/install.sh,
# it takes away all that it installed. What the operator wrote stays: config.d, and config.toml if it
# was changed.
#
# usage: install.sh [--uninstall]
set -eu
umask 022
export LC_ALL=C
here=$(dirname "$(readlink -f "$0")")
tree=$here/tree
ours=/usr/local/lib/kata-cgroupd
list=$ours/installed # each file, by its path
sample=/usr/local/share/doc/kata-cgroupd/config.toml
config=/etc/kata-cgroupd/config.toml
cgctl=/usr/local/bin/cgctl

refuse() {
  echo "install.sh: $*" >&2
  exit 1
}

#LEAVING#

# Before anything is written.
check_node() {
  [ -d "$tree" ] || refuse "there is no $tree: unpack the tar, and run the install.sh in it"
  for directory in /usr/lib /lib; do
    [ ! -e $directory/systemd/system/kata-cgroupd.service ] ||
      refuse "a package of kata-cgroupd is installed: remove it first; running sandboxes keep their groups"
  done
  "$tree/usr/local/bin/cgctl" --version >/dev/null ||
    refuse "the program does not run here: it wants glibc 2.36 or newer, libsystemd.so.0, and the processor of its name"
}

# place FROM TO: in one step, since TO may be running.
place() {
  mkdir -p "$(dirname "$2")"
  cp "$1" "$2.new"
  mv "$2.new" "$2"
}

# The sample becomes the configuration unless somebody has one.
place_config() {
  if [ ! -e $config ] || cmp -s $config $sample; then
    place "$tree$config" $config
  fi
  place "$tree$config" $sample
}

files() { (cd "$tree" && find . -type f ! -path ".$config" | sed 's/^\.//'); }

place_files() {
  place_config
  files | while read -r file; do place "$tree$file" "$file"; done
  place "$here/install.sh" $ours/install.sh
  { files && printf '%s\n' $sample $ours/install.sh $list; } | sort >$list.new
  # What an earlier version had and this one has not.
  [ ! -e $list ] || comm -13 $list.new $list | remove_files
  mv $list.new $list
}

# Files on stdin, and the directories that become empty but for those that every system has.
remove_files() {
  while read -r file; do
    rm -f "$file"
    directory=$(dirname "$file")
    until standard "$directory" || ! rmdir "$directory" 2>/dev/null; do
      directory=$(dirname "$directory")
    done
  done
}
standard() {
  case $1 in
    /etc/* | /usr/local/bin | /usr/local/lib | /usr/local/share | /usr/local/share/man) ;;
    *) return 1 ;;
  esac
}

# systemd, the bus and the journal read what is there now.
reload() {
  systemctl daemon-reload
  busctl call --quiet org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus ReloadConfig
  journalctl --update-catalog
}

install_all() {
  check_node
  place_files
  systemd-sysusers /usr/local/lib/sysusers.d/kata-cgroup-exporter.conf
  reload
  systemctl --quiet enable kata-cgroupd
  systemctl restart kata-cgroupd
  systemctl try-restart kata-cgroup-exporter # where somebody has switched it on
  $cgctl --version
  echo "It runs. Is the node fit for it? cgctl doctor. Take it away: $ours/install.sh --uninstall"
}

uninstall_all() {
  [ -e $list ] || refuse "nothing is installed: there is no $list"
  say_who_stays
  systemctl --quiet disable --now kata-cgroupd kata-cgroup-exporter || echo "install.sh: goes on" >&2
  if cmp -s $config $sample; then rm $config; fi
  rmdir "${config%/*}" 2>/dev/null || [ ! -e "${config%/*}" ] ||
    echo "What was configured stays in ${config%/*}."
  rm -rf /run/kata-cgroupd /var/lib/kata-cgroupd
  files=$(cat $list) # it names itself
  echo "$files" | remove_files
  reload
}

[ "$(id -u)" -eq 0 ] || refuse "run it as root"
[ -d /run/systemd/system ] || refuse "this node does not run systemd"
case $#:${1:-} in
  0:) install_all ;;
  1:--uninstall) uninstall_all ;;
  *) sed -n 's/^# usage: /usage: /p' "$0" >&2 && exit 2 ;;
esac
