# SPDX-License-Identifier: Apache-2.0
"""What the lints share: which files there are, and how a lint runs and proves itself.

A lint is a function from a source root to a list of complaints, and a list of fixtures: small trees
with the number of complaints that they must cause. `lint.main` runs the fixtures first, so that a
lint which could not fail is itself a failure.
"""
import argparse
import contextlib
import io
import os
import pathlib
import re
import sys
import tempfile
import typing

FOLDERS = ("lib", "daemon", "systemd", "tools", "tests", "docs", ".ci")

Complaints = list[str]
Check = typing.Callable[[pathlib.Path], Complaints]
Fixture = tuple[dict[str, str], int]  # path -> text, and the number of complaints


def files(root: pathlib.Path, *suffixes: str, folders: tuple[str, ...] = FOLDERS):
    """All files below the folders (and beside them), sorted; `suffixes` as in ".cpp". Git's own
    `.git` is a file in a further worktree."""
    found = [path for path in root.glob("*") if path.is_file() and path.name != ".git"]
    for folder in folders:
        for base, directories, names in os.walk(root / folder):
            directories[:] = [name for name in directories if name != "__pycache__"]
            found += [pathlib.Path(base) / name for name in names]
    return sorted(path for path in found if not suffixes or path.suffix in suffixes)


def text(path: pathlib.Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def is_data(path: pathlib.Path, root: pathlib.Path) -> bool:
    """Captured or generated material: not ours to word or to mark."""
    parts = path.relative_to(root).parts
    return parts[:2] == ("tests", "data") or "corpus" in parts


INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def includes(path: pathlib.Path) -> list[tuple[str, str]]:
    """('<' or '"', name) of each include."""
    return INCLUDE.findall(text(path))


def _prove(check: Check, fixtures: list[Fixture]) -> Complaints:
    wrong = []
    for tree, expected in fixtures:
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            for path, content in tree.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(content, encoding="utf-8")
            with contextlib.redirect_stdout(io.StringIO()):
                found = check(root)
            if len(found) != expected:
                wrong.append(f"self-test {sorted(tree)}: {len(found)} complaints, not {expected}")
                wrong += [f"  {complaint}" for complaint in found]
    return wrong


def main(check: Check, fixtures: list[Fixture]) -> None:
    parser = argparse.ArgumentParser(description=check.__doc__)
    parser.add_argument("root", type=pathlib.Path, help="source root")
    root = parser.parse_args().root.resolve()
    complaints = _prove(check, fixtures) or check(root)
    for complaint in complaints:
        print(complaint)
    sys.exit(1 if complaints else 0)
