#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A JSON document fits its schema.

usage: fits_schema.py SCHEMA DOCUMENT
"""
import json
import pathlib
import sys

import jsonschema

schema, document = (json.loads(pathlib.Path(name).read_text(encoding="utf-8"))
                    for name in sys.argv[1:])
validator = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
complaints = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)]
print("\n".join(complaints))
sys.exit(1 if complaints else 0)
