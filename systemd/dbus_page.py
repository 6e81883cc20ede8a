#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints io.katacontainers.CgroupManager1(5), the manual page of the D-Bus API, from its XML.

usage: dbus_page.py MANAGER_XML SANDBOX_XML

Each member is described in a comment before it: its name, a line `@argument: meaning` for each
argument, and text. A member without a description, a description of another member, and an
argument that is not described are errors.
"""
import re
import sys
import xml.etree.ElementTree as ET

SPDX = "SPDX-License-Identifier: Apache-2.0"
PRIVILEGED = "org.freedesktop.systemd1.Privileged"
EMITS = "org.freedesktop.DBus.Property.EmitsChangedSignal"

HEAD = rf""".\" {SPDX}
.\" Made by systemd/dbus_page.py.
.Dd November 20, 2026
.Dt IO.KATACONTAINERS.CGROUPMANAGER1 5
.Os
.Sh NAME
.Nm io.katacontainers.CgroupManager1
.Nd D-Bus API of kata-cgroupd
.Sh DESCRIPTION
.Xr kata-cgroupd 8
owns the name
.Li io.katacontainers.CgroupManager1
on the system bus.
Everybody may read; members that say so are for root.
It is never started by the bus: without an owner of the name no daemon runs.
"""
TAIL = """.Sh EXAMPLES
.Dl $ busctl call io.katacontainers.CgroupManager1 /io/katacontainers/CgroupManager1 \\
.Dl \\ \\ io.katacontainers.CgroupManager1.Manager Plan s \\(dq\\(dq
.Sh SEE ALSO
.Xr busctl 1 ,
.Xr cgctl 1 ,
.Xr kata-cgroupd-conditions 7 ,
.Xr kata-cgroupd 8
"""


class Mistake(Exception):
    """What is wrong in the XML."""


def escaped(text: str) -> str:
    """Text as mdoc takes it: code marks go, and no line begins with a control character."""
    text = text.replace("\\", r"\e").replace("`", "").replace('"', r"\(dq")
    return "\n".join(r"\&" + line if line[:1] in ".'" else line
                     for line in (line.strip() for line in text.splitlines()))


def paragraphs(text: str) -> str:
    parts = [escaped(one.strip()) for one in re.split(r"\n\s*\n", text) if one.strip()]
    return "\n.Pp\n".join(parts)


def described(comment: str, name: str) -> tuple[dict[str, str], str]:
    """Arguments and text of a comment that is about `name`."""
    head, colon, rest = comment.strip().partition(":")
    if not colon or head.split(".")[-1] != name.split(".")[-1]:
        raise Mistake(f"{name}: the comment before it is about '{head[:40]}'")
    arguments, text, last = {}, [], None
    for line in rest.splitlines() or [""]:
        found = re.match(r"\s*@(\w+):\s*(.*)", line)
        if found:
            last = found[1]
            arguments[last] = found[2]
        elif last and line.strip():
            arguments[last] += " " + line.strip()
        else:
            last = None
            text.append(line)
    return arguments, "\n".join(text)


def said(element: ET.Element, annotation: str) -> str:
    found = [one.get("value") for one in element.findall("annotation")
             if one.get("name") == annotation]
    return found[0] if found else ""


def call(member: ET.Element, arguments: dict[str, str]) -> str:
    """Arguments of a method or signal, in their order."""
    known = member.findall("arg")
    names = [one.get("name") for one in known]
    if set(names) != set(arguments):
        raise Mistake(f"{member.get('name')}: its arguments are {names}, described are "
                      f"{sorted(arguments)}")
    if not known:
        return ""
    out = ".Bl -tag -width Ds -compact\n"
    for one in known:
        way = {"in": "in, ", "out": "out, "}.get(one.get("direction", ""), "")
        out += f".It Ar {one.get('name')} Pq {way}{escaped(one.get('type'))}\n"
        out += escaped(arguments[one.get("name")]) + "\n"
    return out + ".El\n"


def member_text(member: ET.Element, comment: str) -> str:
    arguments, text = described(comment, member.get("name"))
    kind = escaped(member.get("type", ""))
    out = f".It Sy {member.get('name')}" + (f" Pq {kind}" if kind else "") + "\n"
    if member.tag == "property":
        emits = {"const": "Never changes.", "false": "Its changes are not announced.",
                 "invalidates": "Its changes are announced without the new value."}
        text += "\n\n" + emits.get(said(member, EMITS), "")
        return out + paragraphs(text) + "\n"
    if said(member, PRIVILEGED) == "true":
        text += "\n\nFor root."
    return out + call(member, arguments) + (paragraphs(text) + "\n" if text.strip() else "")


def page_of(path: str) -> str:
    root = ET.parse(path, ET.XMLParser(target=ET.TreeBuilder(insert_comments=True))).getroot()
    comment, out = "", ""
    for child in root:
        if child.tag is ET.Comment:
            comment = child.text
        if child.tag != "interface":
            continue
        short, text = described(comment, child.get("name"))
        out += f".Sh INTERFACE {child.get('name')}\n{escaped(short['short_description'])}.\n"
        out += ".Pp\n" + paragraphs(text) + "\n"
        for tag, title in (("method", "Methods"), ("signal", "Signals"), ("property", "Properties")):
            members, last = [], ""
            for one in child:
                if one.tag is ET.Comment:
                    last = one.text
                elif one.tag == tag:
                    members.append(member_text(one, last))
                    last = ""
                else:
                    last = ""
            if members:
                out += f".Ss {title}\n.Bl -tag -width Ds\n{''.join(members)}.El\n"
    return out


def main() -> int:
    try:
        body = "".join(page_of(path) for path in sys.argv[1:])
    except (Mistake, ET.ParseError) as error:
        print(error, file=sys.stderr)
        return 1
    print(HEAD + body + TAIL, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
