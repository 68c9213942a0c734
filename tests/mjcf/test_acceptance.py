"""Every attribute, with every count of numbers and every keyword: taken or refused as MuJoCo does."""

import pytest

from mjx_like.mjcf.schema import ELEMENTS, Kind
from tests.mjcf.acceptance import document, oracle_error, our_error, paths, texts

# Where the oracle looks further than its reader (files, plugins, names), or does not look at all (unread numbers).
FURTHER = {("asset", "mesh", "params"), ("asset", "hfield", "elevation"), ("asset", "model")}
# A blank anchor makes MuJoCo 4.0.0 throw from within its warning lock, and hang at the next warning.
CRASHES = {("equality", "connect", "anchor")}
SECTIONS = sorted({path[0] for path, _ in paths()})


def skipped(path: tuple[str, ...], name: str) -> bool:
    """Whether the oracle's answer says nothing about the attribute."""
    dcmotor = path[-1] == "dcmotor" and name in ("motorconst", "resistance", "thermal")
    attached = path[-1] == "attach" or path[:2] == ("extension", "plugin")
    return dcmotor or attached or "flexcomp" in path or bool({(*path, name), path} & (FURTHER | CRASHES))


@pytest.mark.parametrize("section", SECTIONS)
def test_same_attributes_are_taken(section):
    tried = 0
    for path, kind in paths():
        if path[0] != section:
            continue
        for name, row in ELEMENTS[kind].attributes.items():
            for text in [] if skipped(path, name) else texts(row):
                xml = document(path, {name: text})
                theirs, ours = oracle_error(xml), our_error(xml)
                assert (theirs is None) == (ours is None), f"{xml}\noracle: {theirs}\nours: {ours}"
                tried += 1
    assert tried or section == "extension"


@pytest.mark.parametrize("path", [path for path, _ in paths() if "flexcomp" in path], ids="/".join)
def test_same_keywords_of_flexcomp(path):
    kind = dict(paths())[path]
    for name, row in ELEMENTS[kind].attributes.items():
        if row.kind is Kind.KEYWORD:
            for text in texts(row):
                xml = document(path, {name: text})
                theirs = oracle_error(xml) or ""
                assert ("keyword" in theirs) == (our_error(xml) is not None), f"{xml}\n{theirs}"
