#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A folder includes only itself and folders of lower layers, by paths relative to lib/."""
import pathlib

import lint

LAYER = {
    "base": 0,
    "model": 1,
    "kernel": 2,
    "oci": 2,
    "nri": 2,
    "config": 3,
    "identify": 3,
    "layout": 3,
    "measure": 3,
    "sizing": 3,
    "plan": 4,
    "record": 4,
    "history": 4,
    "show": 4,
    "cgroup": 5,
    "proc": 5,
    "observe": 6,
    "apply": 6,
    "pass": 7,
    "offline": 8,
}
# Programs: everything in lib/, their own folder, and of the daemon only what stands on the bus. The
# daemon does not know what works without it.
PROGRAMS = ("daemon", "tools")
WITHOUT_DAEMON = "offline"
SHARED = {
    "daemon/bus/compat.hpp",
    "daemon/bus/convert.hpp",
    "daemon/bus/names.hpp",
    "daemon/manager.hpp",
}


def owner(root: pathlib.Path, path: pathlib.Path) -> str:
    """The folder that a source belongs to: "plan" for lib/plan/x.cpp, "daemon", "tools"."""
    parts = path.relative_to(root).parts
    return parts[1] if parts[0] == "lib" else parts[0]


def allowed(mine: str, theirs: str) -> bool:
    if mine == theirs:
        return True
    if mine == "daemon" and theirs == WITHOUT_DAEMON:
        return False
    if mine in PROGRAMS:
        return theirs in LAYER
    return theirs in LAYER and LAYER[theirs] < LAYER[mine]


def check(root: pathlib.Path) -> lint.Complaints:
    complaints = []
    for path in lint.files(root, ".cpp", ".hpp", folders=("lib", *PROGRAMS)):
        mine = owner(root, path)
        name = path.relative_to(root)
        if mine not in LAYER and mine not in PROGRAMS:
            complaints.append(f"{name}: '{mine}' has no layer in {pathlib.Path(__file__).name}")
            continue
        for kind, include in lint.includes(path):
            theirs = include.split("/")[0]
            if kind != '"' or include in SHARED or (path.parent / include).exists():
                continue
            if ".." in include.split("/"):
                complaints.append(f"{name}: {include}: write the path relative to lib/")
            elif (theirs in LAYER or theirs in PROGRAMS) and not allowed(mine, theirs):
                complaints.append(f"{name}: {include}: '{theirs}' is not below '{mine}'")
    return complaints


FIXTURES = [
    ({"lib/plan/a.cpp": '#include "model/ids.hpp"\n#include <vector>\n'}, 0),
    ({"daemon/a.cpp": '#include "offline/held.hpp"\n'}, 1),
    ({"tools/a.cpp": '#include "offline/held.hpp"\n'}, 0),
    ({"daemon/a.cpp": '#include "apply/apply.hpp"\n', "lib/plan/b.hpp": '#include "plan/a.hpp"'}, 0),
    ({"lib/model/a.hpp": '#include "plan/diff.hpp"\n'}, 1),
    ({"lib/kernel/a.cpp": '#include "oci/bundle_json.hpp"\n'}, 1),
    ({"lib/plan/a.cpp": '#include "layout/layout.hpp"\n#include "sizing/sizing.hpp"\n'}, 0),
    ({"lib/identify/a.cpp": '#include "layout/layout.hpp"\n'}, 1),
    ({"lib/record/a.cpp": '#include "plan/diff.hpp"\n'}, 1),
    ({"lib/apply/a.cpp": '#include "daemon/loop.hpp"\n# include "observe/x.hpp"\n'}, 2),
    ({"lib/base/a.cpp": '#include "../model/ids.hpp"\n'}, 1),
    ({"tools/cgctl/a.cpp": '#include "daemon/bus/names.hpp"\n'}, 0),
    ({"tools/cgctl/a.cpp": '#include "daemon/reconciler.hpp"\n'}, 1),
    ({"lib/newcomer/a.cpp": ""}, 1),
]

if __name__ == "__main__":
    lint.main(check, FIXTURES)
