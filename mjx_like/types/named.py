"""Named objects of a Model, as `m.body(\"torso\")` returns them."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, overload

from mjx_like.types.enums import ObjType


class Named(NamedTuple):
    """One object of a Model: its `id`, its `name`, and its row of every field (`m.body("torso").mass`)."""

    model: Any
    prefix: str
    id: int
    name: str

    def __repr__(self) -> str:
        found = ((name, x) for name, x in vars(Accessors).items() if isinstance(x, Accessor))
        kind = next(name for name, x in found if x.prefix == self.prefix)
        return f"{kind}{f' {self.name!r}' if self.name else ''}, id {self.id}"

    def __getattr__(self, field: str) -> Any:
        return getattr(self.model, self.prefix + field)[self.id]


class Accessor:
    """Finds objects of one kind by name or id: `m.body("torso")`; what it finds has `id`, `name` and its fields."""

    def __init__(self, kind: ObjType, prefix: str) -> None:
        self.kind, self.prefix = kind, prefix

    @overload
    def __get__(self, m: None, owner: type) -> "Accessor": ...
    @overload
    def __get__(self, m: Any, owner: type) -> Callable[[str | int], Named]: ...
    def __get__(self, m: Any, owner: type) -> Any:
        return self if m is None else functools.partial(self._find, m)

    def _find(self, m: Any, key: str | int) -> Named:
        index = key if isinstance(key, int) else m.name2id(self.kind, key)
        names = m.topology.names.get(self.kind, ())
        if not 0 <= index < len(names):
            known = ", ".join(n for n in names if n) or "none are named"
            raise KeyError(f"no {self.kind.name.lower()} named {key!r}; known: {known}")
        return Named(m, self.prefix, index, names[index])


class Accessors:
    """The accessors of a Model: a name for each kind of named object, with MuJoCo's short ones."""

    body = Accessor(ObjType.BODY, "body_")
    joint = jnt = Accessor(ObjType.JOINT, "jnt_")
    geom = Accessor(ObjType.GEOM, "geom_")
    site = Accessor(ObjType.SITE, "site_")
    camera = cam = Accessor(ObjType.CAMERA, "cam_")
    light = Accessor(ObjType.LIGHT, "light_")
    flex = Accessor(ObjType.FLEX, "flex_")
    mesh = Accessor(ObjType.MESH, "mesh_")
    skin = Accessor(ObjType.SKIN, "skin_")
    hfield = Accessor(ObjType.HFIELD, "hfield_")
    texture = tex = Accessor(ObjType.TEXTURE, "tex_")
    material = mat = Accessor(ObjType.MATERIAL, "mat_")
    pair = Accessor(ObjType.PAIR, "pair_")
    exclude = Accessor(ObjType.EXCLUDE, "exclude_")
    equality = eq = Accessor(ObjType.EQUALITY, "eq_")
    tendon = Accessor(ObjType.TENDON, "tendon_")
    actuator = Accessor(ObjType.ACTUATOR, "actuator_")
    sensor = Accessor(ObjType.SENSOR, "sensor_")
    numeric = Accessor(ObjType.NUMERIC, "numeric_")
    text = Accessor(ObjType.TEXT, "text_")
    tuple = Accessor(ObjType.TUPLE, "tuple_")
    keyframe = key = Accessor(ObjType.KEY, "key_")


# Kind of named object -> prefix of its fields.
NAMED_KINDS = {found.kind: found.prefix for found in vars(Accessors).values() if isinstance(found, Accessor)}


def name2id(m: Any, typ: ObjType | int, name: str) -> int:
    """Return the id of the object of that type and name, or -1.  Source: mj_name2id."""
    return m.name2id(typ, name)


def id2name(m: Any, typ: ObjType | int, i: int) -> str | None:
    """Return the name of an object, or None if it has none.  Source: mj_id2name."""
    return m.id2name(typ, i)
