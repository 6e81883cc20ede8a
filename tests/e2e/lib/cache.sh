# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What is made once and kept below the cache, each under a hash of what it is made from: the node's
# image, its frozen state, the daemon as it is installed there or packaged, and the programs of the
# tests; each for the Debian release of the node, `release`.

hash_files() { find "$@" -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum | cut -c1-16; }

# image_directory: makes it if needed. The signed list of the suite stands for the version of every
# package. That it cannot be had is a failure: nobody knows then what would be tested.
image_directory() {
  local key list=$scratch/InRelease
  /usr/lib/apt/apt-helper -o Acquire::Retries=3 download-file \
    "http://deb.debian.org/debian/dists/$release/InRelease" "$list" >"$scratch/apt" 2>&1 ||
    { cat "$scratch/apt" >&2 && return 1; }
  key=$( (cd "$here" && hash_files image; sha256sum <"$list") | sha256sum | cut -c1-16)
  if [[ ! -d $cache/node-$release-$key ]]; then
    echo "making the node's image" >&2
    rm -rf --one-file-system "$cache/node-$release"-*
    "$here/image/make" "$cache/node-$release-$key.new" "$release" >&2 || return
    mv "$cache/node-$release-$key.new" "$cache/node-$release-$key"
  fi
  echo "$cache/node-$release-$key"
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

# compiled NAME HOW SOURCE...: a tar of what tools/debian makes when it is asked with HOW from these
# sources; a copy that is this run's own, since the next one may make it anew.
compiled() {
  local name=$1-$release key
  local -a how
  read -ra how <<<"$2"
  key=$(cd "$source_dir" && hash_files "${@:3}" meson.build meson_options.txt tools/debian tools/debian-root \
    tools/packages tools/meson.build)
  if [[ ! -e $cache/$name-$key.tar ]]; then
    echo "compiling for the node: $name" >&2
    rm -f "$cache/$name"-*
    "$source_dir/tools/debian" "$release" "${how[0]}" "$cache/$name-$key.new" "${how[@]:1}" >&2 || return
    mv "$cache/$name-$key.new" "$cache/$name-$key.tar"
  fi
  cp "$cache/$name-$key.tar" "$scratch/$name.tar"
  echo "$scratch/$name.tar"
}

# What the project installs.
installed_daemon() { compiled daemon --install lib daemon systemd docs tools/cgctl; }

# The stand-in of Kata, and of strangers.
node_programs() {
  compiled programs "--programs tests/support/runc tests/support/impostor" \
    lib/base lib/model lib/meson.build tests/support
}

# case_programs CASE: the tests of ours that a case runs on the node, as its file `programs.txt` names them.
case_programs() {
  compiled "of-$1" "--programs $(<"$here/cases/$1/programs.txt")" lib tests/support tests/contract
}

# case_packages CASE: a directory with what tools/package makes of what is committed. Each line of the
# case's file `packages.txt` names a directory in it, and the program and arguments that fill it, where
# RELEASE is the node's.
# What a node needs no debug symbols for is left out, and tars are unpacked: it has no zstd.
case_packages() {
  local key directory name words kept=packages-$1-$release list=$here/cases/$1/packages.txt
  key=$({ cat "$list" && committed_sources; } | sha256sum | cut -c1-16) || return
  directory=$cache/$kept-$key
  if [[ ! -d $directory ]]; then
    echo "packaging for the node: $1" >&2
    rm -rf "$cache/$kept"-*
    while read -r name words; do
      package "$directory.new/$name" ${words//RELEASE/$release} >&2 || return
    done <"$list"
    mv "$directory.new" "$directory"
  fi
  echo "$directory"
}

# What a package is made of, by its hashes.
committed_sources() {
  git -c safe.directory="$source_dir" -C "$source_dir" rev-parse HEAD:{lib,daemon,systemd,docs,tools} \
    HEAD:meson{.build,_options.txt}
}

# package DIRECTORY PROGRAM ARGUMENT...
package() {
  local made
  "$source_dir/tools/package/$2" --output "$1" "${@:3}" </dev/null || return
  rm -f "$1"/*-dbgsym_*
  for made in "$1"/*.tar.zst; do
    [[ ! -e $made ]] || { tar -C "$1" -xf "$made" && rm "$made"; } || return
  done
}
