#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A rule that a page states is held by a test: each test that a page names exists.

A page names a test as `Suite.Test` and an end-to-end case as "case `name`".
"""
import pathlib
import re

import lint

TEST = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)", re.MULTILINE)
NAMED_TEST = re.compile(r"`([A-Z]\w*\.[A-Z]\w*)`")
NAMED_CASE = re.compile(r"\bcase `([a-z][a-z0-9-]*)`")
# Fields of Kata's own state, which look alike.
OTHERS = ("HypervisorConfig.", "HypervisorState.")


def tests(root: pathlib.Path) -> set[str]:
    found = set()
    for path in lint.files(root, ".cpp", folders=("tests",)):
        found |= {".".join(pair) for pair in TEST.findall(lint.text(path))}
    return found


def check(root: pathlib.Path) -> lint.Complaints:
    known = tests(root)
    complaints = []
    for path in lint.files(root, ".md", folders=("docs",)):
        for number, line in enumerate(lint.text(path).splitlines(), 1):
            where = f"{path.relative_to(root)}:{number}"
            for name in NAMED_TEST.findall(line):
                if name not in known and not name.startswith(OTHERS):
                    complaints.append(f"{where}: there is no test {name}")
            for name in NAMED_CASE.findall(line):
                if not (root / "tests/e2e/cases" / name / "case.sh").is_file():
                    complaints.append(f"{where}: there is no end-to-end case {name}")
    return complaints


TESTS = "TEST(A, One) {}\nTEST_F(A, Two) {}\nTEST_P(\n    B, Three) {}\n"
FIXTURES = [
    ({"tests/a.cpp": TESTS, "docs/a.md": "so it is (`A.One`, `A.Two`, `B.Three`)\n"}, 0),
    ({"tests/a.cpp": TESTS, "docs/a.md": "so it is (`A.Three`), and so (`C.One`)\n"}, 2),
    ({"docs/a.md": "`HypervisorConfig.MemorySize`, `lib/a.Cpp` and `a.b`\n"}, 0),
    ({"tests/e2e/cases/oom/case.sh": "", "docs/a.md": "(case `oom`), (case `boom`)\n"}, 1),
]

if __name__ == "__main__":
    lint.main(check, FIXTURES)
