#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails at a class that is defined twice under one name: the linker takes one of them, silently.

A compiler sees one file at a time, and so does not tell.
"""
import collections
import pathlib
import re

import lint

NAMESPACE = re.compile(r"^namespace\s*([\w:]*)\s*\{")
NAMESPACE_END = re.compile(r"^\}\s*// namespace")
TYPE = re.compile(r"^(?:class|struct|union|enum(?:\s+class)?)\s+(\w+)\s*(?:final\s*)?(?::[^:;].*)?\{")


def defined(text: str) -> list[str]:
    """Types with their namespaces, without those that only one file can see."""
    names, inside = [], []
    for line in text.splitlines():
        if opened := NAMESPACE.match(line):
            inside.append(opened[1])
        elif NAMESPACE_END.match(line):
            inside.pop()
        elif (found := TYPE.match(line)) and "" not in inside:
            names.append("::".join([*inside, found[1]]))
    return names


def check(root: pathlib.Path) -> lint.Complaints:
    where = collections.defaultdict(list)
    for path in lint.files(root, ".hpp", ".cpp", folders=("lib", "daemon", "tools")):
        for name in defined(lint.text(path)):
            where[name].append(str(path.relative_to(root)))
    return [f"{name}: defined in {' and '.join(paths)}: call one of them otherwise"
            for name, paths in sorted(where.items()) if len(paths) > 1]


OPEN, END = "namespace kcg {\n", "}  // namespace kcg\n"
HIDDEN, HIDDEN_END = "namespace {\n", "}  // namespace\n"
FIXTURES = [
    ({"lib/a.hpp": f"{OPEN}struct A {{\n}};\n{END}", "daemon/b.hpp": f"{OPEN}class A final {{\n}};\n{END}"}, 1),
    ({"lib/a.hpp": f"{OPEN}enum class A : int {{\n}};\n{END}", "lib/b.cpp": f"{OPEN}class A : B {{\n}};\n{END}"}, 1),
    ({"lib/a.hpp": f"{OPEN}struct A {{\n}};\n{END}", "lib/b.hpp": f"{OPEN}struct A;\n{END}"}, 0),
    ({"lib/a.hpp": f"{OPEN}struct A {{\n}};\n{END}",
      "lib/b.cpp": f"{OPEN}{HIDDEN}struct A {{\n}};\n{HIDDEN_END}{END}"}, 0),
    ({"lib/a.hpp": f"{OPEN}struct A {{\n}};\n{END}",
      "lib/b.hpp": "namespace kcg::op {\nstruct A {\n};\n}  // namespace kcg::op\n"}, 0),
]

if __name__ == "__main__":
    lint.main(check, FIXTURES)
