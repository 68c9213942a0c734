"""What the reader asks of single elements beyond the table.

Source: xml_native_reader.cc of MuJoCo (the throw statements of the element it names).
"""

import re
import warnings

from mjx_like.mjcf.element import Element
from mjx_like.types.enums import ObjType

# mju_str2Type: names of object kinds where text names one.
OBJECT_TYPES = {member.name.lower(): member for member in ObjType if member.name not in ("UNKNOWN", "DEFAULT")}
MEMORY = re.compile(r"(\d+)([KMGTPE]?)", re.IGNORECASE | re.ASCII)
UNITS = " KMGTPE"


def check_compiler(element: Element) -> None:
    if element.get("coordinate") == "global":
        raise element.error("attribute 'coordinate' is 'global', which MuJoCo dropped in 2.3.4; save it in 2.3.3 first")
    sequence = element.get("eulerseq", "xyz")
    if set(sequence.lower()) - set("xyz"):
        raise element.error(f"attribute 'eulerseq' has '{sequence}', needs three of: x, y, z, X, Y, Z")


def memory_bytes(text: str) -> int | None:
    """Bytes that a text like "10M" asks for, -1 for the default, None if it is wrong."""
    text = text.strip()
    if text == "-1":
        return -1
    match = MEMORY.fullmatch(text)
    total = int(match[1][:20]) << 10 * UNITS.index(match[2].upper() or " ") if match else 2**64
    return total if total < 2**64 else None


def check_size(element: Element) -> None:
    if "memory" in element.attrib and memory_bytes(element.get("memory")) is None:
        found = element.get("memory")
        raise element.error(
            f"attribute 'memory' has '{found}', needs an integer and one of K, M, G, T, P, E, or nothing"
        )


def check_no_dynamics(element: Element) -> None:
    """Raise for a joint or inertia that would belong to the world."""
    for child in element.children:
        if child.tag in ("joint", "freejoint", "inertial"):
            raise child.error("may not stand in worldbody; the world cannot move; put it in a <body>")
        if child.tag == "frame":
            check_no_dynamics(child)


def check_replicate(element: Element) -> None:
    """Raise for a joint that would belong to no body; an inertial has no effect there and is dropped."""
    for child in element.children:
        if child.tag in ("joint", "freejoint"):
            raise child.error("may not stand directly in <replicate>; put it in a <body>")
        if child.tag == "inertial":
            warnings.warn(f"{child.where}: {child.label}: has no effect in a replicate", stacklevel=2)
    element.children = [child for child in element.children if child.tag != "inertial"]
    for child in element.children:
        if child.tag == "frame":
            check_replicate(child)


def check_orientation(element: Element) -> None:
    if "quat" in element.attrib and not element.get("quat").any():
        raise element.error("attribute 'quat' is zero, needs at least one number that is not")


def check_material(element: Element) -> None:
    layer = element.find("layer")
    if layer is not None and "texture" in element.attrib:
        raise layer.error("may not stand in a material that has attribute 'texture'")


def check_mesh(element: Element) -> None:
    hull = element.get("maxhullvert", -1)
    if hull != -1 and hull < 4:
        raise element.error(f"attribute 'maxhullvert' is {hull}, must be -1 or at least 4")
    if "builtin" in element.attrib and "params" not in element.attrib:
        raise element.error("missing attribute 'params', which 'builtin' needs")


def check_texture(element: Element) -> None:
    layout = element.get("gridlayout")
    cells = int(element.get("gridsize", (1, 1))[0] * element.get("gridsize", (1, 1))[1])
    if layout is not None and len(layout) != cells:
        raise element.error(f"attribute 'gridlayout' has {len(layout)} characters, needs {cells} as 'gridsize' says")


def check_hfield(element: Element) -> None:
    rows, columns, elevation = element.get("nrow", 0), element.get("ncol", 0), element.get("elevation")
    if elevation is not None and "file" not in element.attrib and rows > 0 and columns > 0:
        if len(elevation) != rows * columns:
            raise element.error(
                f"attribute 'elevation' has {len(elevation)} numbers, needs nrow * ncol = {rows * columns}"
            )


def check_numeric(element: Element) -> None:
    given, size = len(element.get("data", ())), element.get("size")
    if size is None and given == 0:
        raise element.error("missing attribute: needs 'data' or 'size'")
    if size is not None and given > size:
        raise element.error(f"attribute 'data' has {given} numbers, needs at most {size} as 'size' says")


def check_text(element: Element) -> None:
    if not element.get("data"):
        raise element.error("missing attribute 'data', or it is empty")


def check_tuple_element(element: Element) -> None:
    kind = element.get("objtype")
    if kind not in OBJECT_TYPES:
        raise element.error(f"attribute 'objtype' has '{kind}', needs one of: {', '.join(OBJECT_TYPES)}")


def check_config(element: Element) -> None:
    keys = [child.get("key") for child in element.children if child.tag == "config"]
    for child in element.children:
        if child.tag == "config" and keys.count(child.get("key")) > 1:
            raise child.error(f"attribute 'key' has '{child.get('key')}' twice in one plugin")


ORIENTED = ("body", "frame", "inertial", "geom", "site", "camera", "flexcomp", "default_geom", "default_site")
CONFIGURED = ("plugin", "instance", "actuator_plugin", "sensor_plugin")

CHECKS = {
    "compiler": check_compiler,
    "size": check_size,
    "worldbody": check_no_dynamics,
    "replicate": check_replicate,
    "material": check_material,
    "default_material": check_material,
    "mesh": check_mesh,
    "default_mesh": check_mesh,
    "texture": check_texture,
    "hfield": check_hfield,
    "numeric": check_numeric,
    "text": check_text,
    "element": check_tuple_element,
    **dict.fromkeys((*ORIENTED, "default_camera"), check_orientation),
    **dict.fromkeys(CONFIGURED, check_config),
}


def check_element(element: Element) -> None:
    """Raise ModelError if an element breaks a rule that is its own."""
    check = CHECKS.get(element.type)
    if check is not None:
        check(element)
