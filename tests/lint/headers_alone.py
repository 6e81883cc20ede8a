#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every header compiles alone, with the flags of the build.

usage: headers_alone.py ROOT BUILDDIR

A header that a compiled source includes first is proven by the build itself. Any other is compiled
here.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import lint

QUIET = ["-fdiagnostics-color=never"]
CACHE = ["ccache"] if shutil.which("ccache") else []


def sources(build: pathlib.Path) -> list[tuple[pathlib.Path, list[str], bool]]:
    """Each compiled source with its command's words, and whether nothing was compiled before it there:
    Meson's unity builds include several in one of their own."""
    found = []
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        source = pathlib.Path(os.path.normpath(os.path.join(entry["directory"], entry["file"])))
        words = [word for word in shlex.split(entry["command"]) if word != entry["file"]]
        merged = []
        if build in source.parents and "-unity" in source.name:
            merged = re.findall(r'^#include\s*[<"](.*)[>"]', source.read_text(encoding="utf-8"),
                                re.MULTILINE)
        found += [(pathlib.Path(os.path.normpath(source.parent / one)), words, at == 0)
                  for at, one in enumerate(merged)] or [(source, words, True)]
    return found


def included_first(root: pathlib.Path, compiled: list[pathlib.Path]) -> set[pathlib.Path]:
    """Headers that are the first include of a compiled source."""
    found = set()
    for source in compiled:
        first = next(iter(lint.includes(source)), None) if source.exists() else None
        if first and first[0] == '"':
            places = (source.parent, root / "lib", root, root / "tests")
            found |= {place / first[1] for place in places if (place / first[1]).exists()}
    return found


def flags(compiled: list[tuple[pathlib.Path, list[str], bool]]) -> dict[str, list[str]]:
    """Folder of a source -> compiler and flags that some source in it is compiled with."""
    found = {}
    for source, words, _ in compiled:
        kept, skip = [], False
        for word in words[words[0].endswith("ccache"):]:
            if skip or word in ("-o", "-MF", "-MQ", "-c"):
                skip = not skip and word != "-c"
            elif not word.startswith("-M"):
                kept.append(word)
        found[str(source.parent)] = kept
    return found


def flags_for(header: pathlib.Path, known: dict[str, list[str]]) -> list[str] | None:
    """Those of the nearest folder upwards; None when nothing there is compiled."""
    for folder in header.parents:
        if str(folder) in known:
            return known[str(folder)]
    return None


def compile_alone(header: pathlib.Path, command: list[str], build: pathlib.Path) -> str:
    """What the compiler complains about. Nothing in it depends on where the tree is, so that ccache
    knows it again in another one."""
    folder = build / "headers-alone"
    folder.mkdir(exist_ok=True)
    unit = folder / (os.path.relpath(header, build).replace("/", "@") + ".cpp")
    unit.write_text(f'#include "{os.path.relpath(header, folder)}"\n', encoding="utf-8")
    relative = os.path.relpath(unit, build)
    done = subprocess.run(
        CACHE + command + ["-O0", "-U_FORTIFY_SOURCE", *QUIET, "-c", "-o", relative + ".o", relative],
        cwd=build, capture_output=True, text=True, check=False,
    )
    return done.stderr if done.returncode != 0 else ""


def prove(command: list[str], build: pathlib.Path) -> bool:
    """A header that lacks an include must be found."""
    with tempfile.TemporaryDirectory() as name:
        bad = pathlib.Path(name) / "bad.hpp"
        bad.write_text("inline std::string x;\n", encoding="utf-8")
        return compile_alone(bad, command, build) != ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    args = parser.parse_args()
    root, build = args.root.resolve(), args.build.resolve()
    compiled = sources(build)
    known = flags(compiled)
    proven = included_first(root, [source for source, _, alone in compiled if alone])
    headers = [
        header
        for header in lint.files(root, ".hpp", folders=("lib", "daemon", "tools", "tests"))
        if header not in proven
    ]
    if not prove(known[str(root / "lib/base")], build):
        print("self-test: a header without its includes was not found")
        return 1

    # A folder of interfaces, in which nothing is compiled, has no flags of its own.
    anywhere = [f"-I{os.path.relpath(root / folder, build)}" for folder in ("lib", ".", "tests")]

    def one(header: pathlib.Path) -> tuple[pathlib.Path, str]:
        command = flags_for(header, known) or known[str(root / "lib/base")]
        return header, compile_alone(header, command + anywhere, build)

    bad = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for header, complaint in pool.map(one, headers):
            if complaint:
                bad += 1
                print(f"{header.relative_to(root)} does not compile alone:\n{complaint}")
    print(f"{len(proven)} headers proven by the build, {len(headers)} here, {bad} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
