#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every document equals its golden file, and every JSON document fits its schema.

usage: documents_test.py PRINT_DOCUMENTS GOLDEN_DIR SCHEMA_DIR [--update]

--update rewrites the golden files; look at the difference before it is committed.
"""
import difflib
import json
import pathlib
import re
import subprocess
import sys

import jsonschema

CHECKER = jsonschema.FormatChecker()
COLOUR = re.compile("\x1b\\[[0-9;]*m")
LONG_NAME = 50  # of one word: a path in full, a name of 253 characters


def run(program: str, *names: str) -> str:
    return subprocess.run([program, *names], check=True, capture_output=True,
                          encoding="utf-8").stdout


def schema_of(name: str, schemas: pathlib.Path) -> dict:
    """plan-one.json is a document of plan.schema.json."""
    kind = name.removesuffix(".json").split("-")[0]
    return json.loads((schemas / f"{kind}.schema.json").read_text(encoding="utf-8"))


def golden_complaints(name: str, text: str, golden: pathlib.Path) -> list[str]:
    path = golden / name
    expected = path.read_text(encoding="utf-8") if path.exists() else ""
    return list(difflib.unified_diff(expected.splitlines(), text.splitlines(),
                                     name, "now", lineterm=""))


def width_complaints(name: str, text: str) -> list[str]:
    """What could be broken between words does not leave a terminal of 80 or 200 columns."""
    if not name.endswith(".tty") or name.endswith("-40.tty"):
        return []
    width = 200 if name.endswith("-200.tty") else 80
    shown = [COLOUR.sub("", line) for line in text.splitlines()]
    return [f"{name}: {len(line)} columns: {line}" for line in shown
            if len(line) > width and max(map(len, line.split())) < LONG_NAME]


def closed(schema: object) -> object:
    """The same schema that takes no field which it does not name: a misspelt one is found."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: closed(value) for key, value in schema.items()}
    used = [*out.get("properties", {}).values(), *out.get("oneOf", [])]
    used += [out["items"]] if "items" in out else []
    for one in used:
        if "$ref" in one or "properties" in one:
            one["unevaluatedProperties"] = False
    return out


def schema_complaints(name: str, text: str, schemas: pathlib.Path) -> list[str]:
    schema = closed(schema_of(name, schemas))
    jsonschema.Draft202012Validator.check_schema(schema)
    if "oneOf" not in schema:
        schema["unevaluatedProperties"] = False
    validator = jsonschema.Draft202012Validator(schema, format_checker=CHECKER)
    return [f"{name}: {error.json_path}: {error.message}"
            for error in validator.iter_errors(json.loads(text))]


def strictness_complaints(name: str, text: str, schemas: pathlib.Path) -> list[str]:
    """A schema that takes anything proves nothing: it must refuse what breaks the promises."""
    validator = jsonschema.Draft202012Validator(schema_of(name, schemas), format_checker=CHECKER)
    broken = []
    for change in ({"version": 2}, {"version": "1"}):
        broken.append({**json.loads(text), **change})
    without = json.loads(text)
    without.pop([key for key in without if key != "version"][0])
    broken.append(without)
    return [f"{name}: its schema also takes {str(one)[:60]}" for one in broken
            if validator.is_valid(one)]


def shared_complaints(schemas: pathlib.Path) -> list[str]:
    """Each schema stands alone; what two of them call by one name is the same."""
    seen: dict[str, tuple[str, object]] = {}
    complaints = []
    for path in sorted(schemas.glob("*.schema.json")):
        for name, what in json.loads(path.read_text(encoding="utf-8")).get("$defs", {}).items():
            first = seen.setdefault(name, (path.name, what))
            if first[1] != what:
                complaints.append(f"{path.name}: '{name}' differs from the one in {first[0]}")
    return complaints


def main() -> int:
    program, golden, schemas = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    names = run(program).split()
    complaints = shared_complaints(schemas)
    complaints += [f"{path.name}: nothing prints it" for path in golden.iterdir()
                  if path.name not in names]
    for name in names:
        text = run(program, name)
        if "--update" in sys.argv:
            (golden / name).write_text(text, encoding="utf-8")
        complaints += golden_complaints(name, text, golden)
        complaints += width_complaints(name, text)
        if name.endswith(".json"):
            complaints += schema_complaints(name, text, schemas)
            complaints += strictness_complaints(name, text, schemas)
    print("\n".join(complaints) or f"{len(names)} documents are as they should be")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
