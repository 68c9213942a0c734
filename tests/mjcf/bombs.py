"""Short files that ask for more than any machine has; run as a program, it loads them all in 3 GB of address space."""

import resource
import struct
import time
import warnings
import zlib

from mjx_like.compiler.compile import compile_spec
from mjx_like.errors import ModelError
from mjx_like.mjcf.reader import parse_string

ROOM = 3 << 30
MANY = 2_000_000_000
GEOM = '<geom size=".1"/>'
MOVING = f'<body name="b"><joint name="j"/>{GEOM}<site/><camera/></body>'
MANY_ATTRIBUTES = " ".join(f'a{i}=""' for i in range(100_000))
ENTITIES = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 10))


def png(width: int, height: int) -> bytes:
    """A PNG of that size in its header, with a thousandth of the data, packed to nothing."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IDAT", zlib.compress(b"\0" * 1_000_000, 9))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + body + chunk(b"IEND", b"")


def world(tree: str, **sections: str) -> str:
    rest = "".join(f"<{name}>{text}</{name}>" for name, text in sections.items())
    return f"<mujoco>{rest}<worldbody>{tree}</worldbody></mujoco>"


def sized(name: str) -> str:
    return world(MOVING, sensor="<clock/>").replace("<worldbody>", f'<size {name}="{MANY}"/><worldbody>')


def asset(text: str, tree: str = '<geom type="mesh" mesh="m"/>') -> str:
    return world(tree, asset=text)


FILES = {
    "wide.png": png(60_000, 60_000),
    "empty.png": png(8000, 8000),
    "faces.stl": b"\0" * 80 + struct.pack("<I", 4_000_000_000) + b"\0" * 100,
    "sizes.msh": struct.pack("<4i", MANY, MANY, MANY, MANY) + b"\0" * 100,
    "corners.obj": b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf " + b"1 2 3 " * 100_000 + b"\n",
    "index.obj": b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 999999999999\n",
    "sizes.bin": struct.pack("<2i", MANY, MANY),
    "sizes.skn": struct.pack("<4i", MANY, 0, MANY, MANY),
    "negative.skn": struct.pack("<4i", -5, -1, -1, -1),
    "nodes.gmsh": b"$MeshFormat\n4.1 1 8\n\1\0\0\0\n$EndMeshFormat\n$Nodes\n"
    + struct.pack("<4Q", 1 << 60, 1 << 60, 1, 1 << 60)
    + b"\n$EndNodes\n$Elements\n"
    + struct.pack("<4Q", 1 << 60, 1, 1, 1)
    + b"\n$EndElements\n",
}
NUSER = ("body", "jnt", "geom", "site", "cam", "sensor")
BOMBS = {
    "replicate": world(f'<replicate count="{MANY}">{GEOM}</replicate>'),
    "replicates within replicates": world('<replicate count="1000">' * 6 + GEOM + "</replicate>" * 6),
    "flexcomp": world('<flexcomp name="f" dim="3" count="100000 100000 100000" mass="1"/>'),
    "flexcomp with cells": world(
        '<flexcomp name="f" dim="3" count="4 4 4" dof="trilinear" cellcount="999 999 999" mass="1"/>'
    ),
    "composite": world(f'<composite type="grid" count="100000 100000 1" spacing="1">{GEOM}</composite>'),
    "numeric": world("", custom=f'<numeric name="x" size="{MANY}"/>'),
    **{name: sized(name) for name in ("nkey", "nuserdata", *(f"nuser_{kind}" for kind in NUSER))},
    "height field": asset(f'<hfield name="a" nrow="{MANY}" ncol="{MANY}" size="1 1 1 1"/>', ""),
    "sphere": asset('<mesh name="m" builtin="sphere" params="30"/>'),
    "cone": asset(f'<mesh name="m" builtin="cone" params="{MANY} 0"/>'),
    "box": asset('<mesh name="m" builtin="box" params="100000 100000 100000 1 1 1"/>'),
    "rays of a camera": world('<camera name="c" resolution="99999 99999"/>', sensor='<rangefinder camera="c"/>'),
    "contacts of a sensor": world(MOVING, sensor=f'<contact body1="b" num="{MANY}"/>'),
    "user sensor": world(MOVING, sensor=f'<user dim="{MANY}"/>'),
    "history": world(MOVING, actuator=f'<motor joint="j" nsample="{MANY}"/>'),
    "activations": world(MOVING, actuator=f'<general joint="j" dyntype="user" actdim="{MANY}"/>'),
    "entities": f'<!DOCTYPE a [<!ENTITY e0 "lol">{ENTITIES}]><mujoco model="&e9;"/>',
    "attributes": f"<mujoco {MANY_ATTRIBUTES}/>",
    "digits": world(f'<geom size="{"1" * 1_000_000}"/>'),
    "wide.png": asset('<hfield name="a" file="wide.png" size="1 1 1 1"/>', ""),
    "empty.png": asset('<hfield name="a" file="empty.png" size="1 1 1 1"/>', ""),
    **{name: asset(f'<mesh name="m" file="{name}"/>') for name in FILES if name.endswith(("stl", "obj", ".msh"))},
    "sizes.bin": asset('<hfield name="a" file="sizes.bin" size="1 1 1 1"/>', ""),
    **{name: asset(f'<skin name="s" file="{name}"/>', "") for name in FILES if name.endswith("skn")},
    "nodes.gmsh": world('<flexcomp name="f" type="gmsh" file="nodes.gmsh" dim="2" mass="1"/>'),
}
SECONDS = 30


def main() -> int:
    """Load all; return how many were taken, took long, or ended in anything but one line."""
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
    warnings.simplefilter("ignore")
    bad = 0
    for name, text in BOMBS.items():
        start = time.perf_counter()
        try:
            compile_spec(parse_string(text, assets=FILES))
            found = "taken"
        except ModelError as error:
            found = "" if "\n" not in str(error) and len(str(error)) < 600 else f"not one line: {error}"
        except Exception as error:
            found = repr(error)
        seconds = time.perf_counter() - start
        if found or seconds > SECONDS:
            bad += 1
            print(f"{name}: {found or 'slow'} ({seconds:.1f} s)")
    return bad


if __name__ == "__main__":
    raise SystemExit(main())
