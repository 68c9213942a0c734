"""Includes on the disk against the oracle: where files are looked for, and what is refused."""

import struct

import mujoco
import pytest

from mjx_like.errors import ModelError
from tests.compiler.compare import compile_source, differences

GEOM = '<geom size=".1"/>'
HFIELD = '<asset><hfield name="h" file="h.bin" size="1 1 1 1"/></asset>'
ELEVATION = struct.pack("<ii4f", 2, 2, 0, 1, 2, 3)


def world(tree: str, head: str = "") -> str:
    """Return a model with a tree."""
    return f"<mujoco>{head}<worldbody>{tree}</worldbody></mujoco>"


def include(file: str) -> str:
    """Return an include element."""
    return f'<include file="{file}"/>'


def attached(file: str, head: str = "") -> str:
    """Return a model that attaches body b of another."""
    models = f'<asset><model name="k" file="{file}"/></asset>'
    return world('<attach model="k" body="b" prefix="A_"/>', head + models)


TAKEN = {
    "beside": {"main.xml": world(include("a.xml")), "a.xml": f"<x>{GEOM}</x>"},
    "below": {"main.xml": world(include("s/a.xml")), "s/a.xml": f"<x>{GEOM}</x>"},
    "from the main file": {
        "main.xml": world(include("s/a.xml")), "s/a.xml": f"<x>{include('s/b.xml')}</x>", "s/b.xml": f"<x>{GEOM}</x>",
    },
    "from the including file": {
        "main.xml": world(include("s/a.xml")), "s/a.xml": f"<x>{include('b.xml')}</x>", "s/b.xml": f"<x>{GEOM}</x>",
    },
    "from both": {
        "main.xml": world(include("s/a.xml")), "s/a.xml": f"<x>{include('b.xml')}</x>", "s/b.xml": f"<x>{GEOM}</x>",
        "b.xml": f"<x>{GEOM}{GEOM}</x>",
    },
    "same name": {
        "main.xml": world(include("s/a.xml") + include("t/a.xml")), "s/a.xml": f"<x>{GEOM}</x>",
        "t/a.xml": f"<x>{GEOM}</x>",
    },
    "name of the main file": {"main.xml": world(include("s/main.xml")), "s/main.xml": f"<x>{GEOM}</x>"},
    "sections": {
        "main.xml": f"<mujoco>{include('a.xml')}<worldbody>{GEOM}</worldbody><option timestep='.2'/></mujoco>",
        "a.xml": f'<mujoco model="n"><option timestep=".1" gravity="0 0 -1"/><default><geom rgba="1 0 0 1"/></default>'
        f"<worldbody>{GEOM}</worldbody><size nuserdata='3'/></mujoco>",
    },
    "in a section": {
        "main.xml": f"<mujoco><worldbody><body><joint name='j'/>{GEOM}</body></worldbody><actuator>"
        f"{include('a.xml')}<motor name='last' joint='j'/></actuator></mujoco>",
        "a.xml": '<x><motor name="first" joint="j"/></x>',
    },
    "attached models": {
        "main.xml": attached("s/k.xml"),
        "s/k.xml": f"<mujoco><asset><model name='l' file='t/l.xml'/></asset><worldbody><body name='b'>"
        f"{include('inc.xml')}<attach model='l' body='c' prefix='B_'/></body></worldbody></mujoco>",
        "s/inc.xml": f"<x>{GEOM}</x>",
        "s/t/l.xml": world(f'<body name="c">{GEOM}</body>'),
    },
    "asset of the main file": {"main.xml": world("", '<compiler meshdir="m"/>' + HFIELD), "m/h.bin": ELEVATION},
    "asset of an included file": {
        "main.xml": world('<geom type="hfield" hfield="h"/>', include("s/a.xml")),
        "s/a.xml": f"<mujoco>{HFIELD}</mujoco>", "s/h.bin": ELEVATION,
    },
    "asset beside the main file": {
        "main.xml": world('<geom type="hfield" hfield="h"/>', include("s/a.xml")),
        "s/a.xml": f"<mujoco>{HFIELD}</mujoco>", "h.bin": ELEVATION,
    },
    "asset of an attached model": {
        "main.xml": attached("s/k.xml", '<compiler meshdir="no"/>'), "s/m/h.bin": ELEVATION,
        "s/k.xml": world('<body name="b"><geom type="hfield" hfield="h"/></body>', f'<compiler meshdir="m"/>{HFIELD}'),
    },
    "asset that an attached model includes": {
        "main.xml": attached("s/k.xml"), "s/t/a.xml": f"<mujoco>{HFIELD}</mujoco>", "s/t/h.bin": ELEVATION,
        "s/k.xml": world('<body name="b"><geom type="hfield" hfield="h"/></body>', include("t/a.xml")),
    },
}  # fmt: skip
REFUSED = {
    "twice": ({"main.xml": world(2 * include("a.xml")), "a.xml": f"<x>{GEOM}</x>"}, "already included"),
    "twice by other paths": (
        {"main.xml": world(include("s/a.xml") + include("s/../s/./a.xml")), "s/a.xml": f"<x>{GEOM}</x>"},
        "already included",
    ),
    "itself": ({"main.xml": world(include("main.xml"))}, "already included"),
    "in a circle": (
        {
            "main.xml": world(include("a.xml")), "a.xml": f"<x>{include('b.xml')}{GEOM}</x>",
            "b.xml": f"<x>{include('a.xml')}{GEOM}</x>",
        },
        "already included",
    ),
    "missing": ({"main.xml": world(include("a.xml"))}, "no such file"),
    "empty": ({"main.xml": world(include("a.xml")), "a.xml": "<x/>"}, "has no elements"),
    "children": (
        {"main.xml": world(f'<include file="a.xml">{GEOM}</include>'), "a.xml": f"<x>{GEOM}</x>"},
        "may not have children",
    ),
    "no asset": ({"main.xml": world("", HFIELD)}, "<hfield name='h'>: cannot read asset file"),
    "main file of an attached model": (
        {"main.xml": attached("s/k.xml"), "s/k.xml": world(include("a.xml")), "a.xml": f"<x>{GEOM}</x>"},
        "no such file",
    ),
    "model in assetdir": (
        {"main.xml": attached("k.xml", '<compiler assetdir="s"/>'), "s/k.xml": world('<body name="b"/>')},
        "cannot read model file",
    ),
}  # fmt: skip


def written(files, directory) -> str:
    """Write files into a directory; return the path of the main one."""
    for name, contents in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
    return str(directory / "main.xml")


@pytest.mark.parametrize("case", TAKEN)
def test_taken(case, tmp_path):
    assert differences(written(TAKEN[case], tmp_path)) == {}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case, tmp_path):
    files, message = REFUSED[case]
    path = written(files, tmp_path)
    with pytest.raises(ValueError):
        mujoco.MjModel.from_xml_path(path)
    with pytest.raises(ModelError, match=message):
        compile_source(path)
