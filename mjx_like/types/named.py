"""Named objects of a Model, as `m.body(\"torso\")` returns them."""

from typing import Any, NamedTuple

from mjx_like.types.enums import ObjType

# The field prefix and the accessor names of each kind of named object.
NAMED_KINDS = {
    ObjType.BODY: ("body_", "body"), ObjType.JOINT: ("jnt_", "joint", "jnt"), ObjType.GEOM: ("geom_", "geom"),
    ObjType.SITE: ("site_", "site"), ObjType.CAMERA: ("cam_", "camera", "cam"), ObjType.LIGHT: ("light_", "light"),
    ObjType.FLEX: ("flex_", "flex"), ObjType.MESH: ("mesh_", "mesh"), ObjType.SKIN: ("skin_", "skin"),
    ObjType.HFIELD: ("hfield_", "hfield"), ObjType.TEXTURE: ("tex_", "texture", "tex"),
    ObjType.MATERIAL: ("mat_", "material", "mat"), ObjType.PAIR: ("pair_", "pair"),
    ObjType.EXCLUDE: ("exclude_", "exclude"), ObjType.EQUALITY: ("eq_", "equality", "eq"),
    ObjType.TENDON: ("tendon_", "tendon"), ObjType.ACTUATOR: ("actuator_", "actuator"),
    ObjType.SENSOR: ("sensor_", "sensor"), ObjType.NUMERIC: ("numeric_", "numeric"), ObjType.TEXT: ("text_", "text"),
    ObjType.TUPLE: ("tuple_", "tuple"), ObjType.KEY: ("key_", "keyframe", "key"),
}  # fmt: skip


class Named(NamedTuple):
    """One object of a Model: its `id`, its `name`, and its row of every field (`m.body("torso").mass`)."""

    model: Any
    prefix: str
    id: int
    name: str

    def __repr__(self) -> str:
        kind = next(methods[0] for prefix, *methods in NAMED_KINDS.values() if prefix == self.prefix)
        return f"{kind}{f' {self.name!r}' if self.name else ''}, id {self.id}"

    def __getattr__(self, field: str) -> Any:
        return getattr(self.model, self.prefix + field)[self.id]


def name2id(m: Any, kind: ObjType | int, name: str) -> int:
    """Return the id of the object of `kind` with that name, or -1.  Source: mj_name2id."""
    return m.name2id(kind, name)


def id2name(m: Any, kind: ObjType | int, index: int) -> str | None:
    """Return the name of an object, or None if it has none.  Source: mj_id2name."""
    return m.id2name(kind, index)
