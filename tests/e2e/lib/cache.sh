# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What is made once and kept below the cache, each under a hash of what it is made from: the node's
# image, its frozen state, and the daemon as it is installed there.

suite_url=http://deb.debian.org/debian/dists/trixie/InRelease

hash_files() { find "$@" -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum | cut -c1-16; }

# image_directory: makes it if needed. The signed list of the suite stands for the version of every
# package. That it cannot be had is a failure: nobody knows then what would be tested.
image_directory() {
  local key list=$scratch/InRelease
  /usr/lib/apt/apt-helper -o Acquire::Retries=3 download-file "$suite_url" "$list" >"$scratch/apt" 2>&1 ||
    { cat "$scratch/apt" >&2 && return 1; }
  key=$( (cd "$here" && hash_files image; sha256sum <"$list") | sha256sum | cut -c1-16)
  if [[ ! -d $cache/node-$key ]]; then
    echo "making the node's image" >&2
    rm -rf --one-file-system "$cache"/node-[0-9a-f]*
    "$here/image/make" "$cache/node-$key.new" >&2 || return
    mv "$cache/node-$key.new" "$cache/node-$key"
  fi
  echo "$cache/node-$key"
}

# frozen_directory IMAGE: of this machine, and of these settings of the virtual machine
frozen_directory() {
  local key
  key=$(cat /etc/machine-id "$here/lib/vm.sh" "$here/lib/qmp" 2>/dev/null | sha256sum | cut -c1-16)
  if [[ ! -d $1/frozen-$key ]]; then
    echo "freezing a node" >&2
    rm -rf "$1"/frozen-*
    freeze "$1" "$1/frozen-$key" >&2 || return
  fi
  echo "$1/frozen-$key"
}

# installed_daemon: a tar of what the project installs, compiled with Debian 13.
installed_daemon() {
  local key
  key=$(cd "$source_dir" && hash_files lib daemon systemd docs tools/cgctl meson.build \
    meson_options.txt tools/debian13 tools/packages tools/meson.build)
  if [[ ! -e $cache/daemon-$key.tar ]]; then
    echo "compiling the daemon for the node" >&2
    rm -f "$cache"/daemon-*
    "$source_dir/tools/debian13" --install "$cache/daemon-$key.new" >&2 || return
    mv "$cache/daemon-$key.new" "$cache/daemon-$key.tar"
  fi
  echo "$cache/daemon-$key.tar"
}
