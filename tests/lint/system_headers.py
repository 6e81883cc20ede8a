#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pure layers see only the language and the text libraries; each other library has its place."""
import pathlib

import lint

PURE = tuple(
    f"lib/{room}"
    for room in ("model", "kernel", "oci", "nri", "config", "identify", "layout", "measure", "sizing",
                 "plan", "record", "history", "show")
)
# In a pure layer: standard headers without I/O or threads, and these.
PURE_LIBRARIES = ("fmt/", "nlohmann/", "toml++/", "tl/")
IMPURE_STANDARD = {
    "condition_variable", "cstdio", "filesystem", "fstream", "future", "iostream", "mutex",
    "thread", "csignal",
}
# Prefix of a header -> where it may be included.
CONFINED = {
    "libcgroup.h": ("lib/cgroup", "tests"),
    "systemd/": ("daemon", "tools", "tests"),
    "sdbus-c++/": ("daemon/bus", "tools", "tests"),
    "toml++/": ("lib/config", "tests"),
    "CLI/": ("daemon", "tools", "tests"),
    "ncurses.h": ("tools/cgctl/top",),
}


def below(name: str, folders: tuple[str, ...]) -> bool:
    return any(name.startswith(folder + "/") for folder in folders)


def pure(header: str) -> bool:
    if header.startswith(PURE_LIBRARIES):
        return True
    return "/" not in header and "." not in header and header not in IMPURE_STANDARD


def check(root: pathlib.Path) -> lint.Complaints:
    complaints = []
    for path in lint.files(root, ".cpp", ".hpp", ".h", folders=("lib", "daemon", "tools", "tests")):
        name = str(path.relative_to(root))
        for kind, header in lint.includes(path):
            if kind != "<":
                continue
            if below(name, PURE) and not pure(header):
                complaints.append(f"{name}: <{header}> in a pure layer")
            for prefix, places in CONFINED.items():
                if header.startswith(prefix) and not below(name, places):
                    complaints.append(f"{name}: <{header}> belongs into {', '.join(places)}")
    return complaints


FIXTURES = [
    ({"lib/oci/a.cpp": "#include <string>\n#include <nlohmann/json.hpp>\n"}, 0),
    ({"lib/base/a.cpp": "#include <unistd.h>\n", "lib/proc/a.cpp": "#include <sys/stat.h>\n"}, 0),
    ({"lib/plan/a.cpp": "#include <unistd.h>\n#include <sys/stat.h>\n"}, 2),
    ({"lib/identify/a.cpp": "#include <unistd.h>\n", "lib/show/a.cpp": "#include <cstdio>\n"}, 2),
    ({"lib/model/a.hpp": "#include <filesystem>\n"}, 1),
    ({"lib/kernel/a.cpp": "#include <systemd/sd-bus.h>\n"}, 2),
    ({"lib/apply/a.cpp": "#include <systemd/sd-journal.h>\n#include <libcgroup.h>\n"}, 2),
    ({"daemon/a.cpp": "#include <sdbus-c++/sdbus-c++.h>\n"}, 1),
]

if __name__ == "__main__":
    lint.main(check, FIXTURES)
