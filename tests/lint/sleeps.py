#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nobody waits by the clock: wait for the event, with a deadline.

Exceptions stand in sleeps_allowed.txt, one per line: a path and the reason.
"""
import pathlib
import re

import lint

CODE = re.compile(r"\b(sleep_for|sleep_until|usleep|nanosleep|clock_nanosleep)\b|\b(::|time\.)?sleep\s*\(")
# In a shell, a sleep in the background is a process to look at, not a wait.
SHELL = re.compile(r"(^|[;&|(]|\bdo\b|\bthen\b)\s*sleep\s+[^&]*$")
ALLOW_LIST = "tests/lint/sleeps_allowed.txt"


def allow_list(root: pathlib.Path) -> set[str]:
    path = root / ALLOW_LIST
    lines = lint.text(path).splitlines() if path.exists() else []
    return {line.split()[0] for line in lines if len(line.split()) > 1 and line[0] != "#"}


def is_shell(path: pathlib.Path) -> bool:
    return path.suffix == ".sh" or re.match(r"#!.*\b(ba)?sh\b", lint.text(path)) is not None


def strip(line: str, shell: bool) -> str:
    """The line without its comment."""
    return line.split("#")[0] if shell else line.split("//")[0]


def check(root: pathlib.Path) -> lint.Complaints:
    allowed = allow_list(root)
    used, complaints = set(), []
    for path in lint.files(root, folders=("lib", "daemon", "tools", "tests")):
        name = str(path.relative_to(root))
        shell = is_shell(path)
        if lint.is_data(path, root) or name.startswith("tests/lint/"):
            continue
        if not shell and path.suffix not in (".cpp", ".hpp", ".c", ".py", ""):
            continue
        for number, line in enumerate(lint.text(path).splitlines(), 1):
            if (SHELL if shell else CODE).search(strip(line, shell)):
                used.add(name)
                if name not in allowed:
                    complaints.append(f"{name}:{number}: {line.strip()}: wait for the event instead")
    stale = sorted(allowed - used)
    return complaints + [f"{ALLOW_LIST}: {name} does not sleep (any more)" for name in stale]


FIXTURES = [
    ({"tests/unit/a.cpp": "wait_until_readable(fd, 5s); // sleep() would be wrong\n"}, 0),
    ({"tests/e2e/a.sh": "#!/bin/sh\nsleep 1000 &\n"}, 0),
    ({"tests/unit/a.cpp": "std::this_thread::sleep_for(1s);\n::sleep(1);\n"}, 2),
    ({"tests/e2e/a.sh": "sleep 1\nwhile true; do sleep 0.1; done\n"}, 2),
    ({"tools/x": "#!/usr/bin/env python3\ntime.sleep(1)\n"}, 1),
    ({"tests/a.cpp": "usleep(3);\n", ALLOW_LIST: "tests/a.cpp the shim does\n"}, 0),
    ({"tests/a.cpp": "int x;\n", ALLOW_LIST: "tests/a.cpp the shim does\n"}, 1),
]

if __name__ == "__main__":
    lint.main(check, FIXTURES)
