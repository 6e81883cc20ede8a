#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports long files and fails at those that nobody can hold in his head."""
import pathlib

import lint

REPORT = 400
LIMIT = 600
SUFFIXES = (".cpp", ".hpp", ".h", ".c", ".py", ".sh", "", ".build")


def check(root: pathlib.Path) -> lint.Complaints:
    complaints = []
    for path in lint.files(root, *SUFFIXES, folders=("lib", "daemon", "tools", "tests")):
        if lint.is_data(path, root) or path.name == "LICENSE":
            continue
        lines = lint.text(path).count("\n")
        name = path.relative_to(root)
        if lines > LIMIT:
            complaints.append(f"{name}: {lines} lines, more than {LIMIT}: split it")
        elif lines > REPORT:
            print(f"note: {name}: {lines} lines, more than {REPORT}")
    return complaints


FIXTURES = [
    ({"lib/a.cpp": "\n" * LIMIT}, 0),
    ({"lib/a.cpp": "\n" * (LIMIT + 1), "tools/b": "\n" * (LIMIT + 1)}, 2),
]

if __name__ == "__main__":
    lint.main(check, FIXTURES)
