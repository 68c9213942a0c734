"""The table against the grammar that MuJoCo prints."""

import re

import mujoco
import pytest

from mjx_like.mjcf.schema import ELEMENTS

# What the table has and MuJoCo 4.0.0 does not print: aliases of body (printed as one) and composite (3.1.6).
UNPRINTED = {"worldbody", "frame", "replicate", "composite"}
LINE = re.compile(r"^( *)(\(world\)body|\w+) \(([!?*R])\)\s*(.*)$")


def printed() -> dict[tuple[str, ...], tuple[str, set[str]]]:
    """Path of tags -> (arity, attributes), as the oracle prints it."""
    found, path, attributes = {}, [], set()
    for line in mujoco.mj_printSchema(False, False).splitlines():
        match = LINE.match(line)
        if not match:
            attributes |= set(line.split())
            continue
        indent, tag, arity, rest = match.groups()
        path = path[: len(indent) // 3] + [tag.replace("(world)", "")]
        attributes = set(rest.split())
        found[tuple(path)] = (arity, attributes)
    return found


def tabled() -> dict[tuple[str, ...], tuple[str, set[str]]]:
    """The same from the table."""
    found = {}

    def visit(path, arity, kind):
        found[path] = (arity, set(ELEMENTS[kind].attributes))
        for tag, child in ELEMENTS[kind].children.items():
            if tag == path[-1] or tag in UNPRINTED:
                continue
            visit((*path, tag), child.arity, child.type)

    visit(("mujoco",), "!", "mujoco")
    visit(("mujoco", "body"), "R", "body")
    return found


PRINTED = printed()


def test_the_printed_schema_was_read():
    assert len(PRINTED) > 160
    assert PRINTED[("mujoco", "default", "geom")][0] == "?"


def test_same_elements():
    assert set(tabled()) == set(PRINTED)


@pytest.mark.parametrize("path", sorted(PRINTED), ids="/".join)
def test_same_arity_and_attributes(path):
    arity, attributes = tabled()[path]
    assert attributes == PRINTED[path][1]
    assert arity == PRINTED[path][0]
