"""Table rows: asset, extension, custom, keyframe."""

from mjx_like.mjcf.schema import keywords as k
from mjx_like.mjcf.schema.body import GREY, IDENTITY, ORIGIN
from mjx_like.mjcf.schema.grammar import (
    boolean,
    element,
    exclusive,
    integer,
    integers,
    key,
    many,
    name,
    only_elements,
    real,
    real32,
    reals,
    reals32,
    ref,
    required,
    text,
)

CUBE_FILES = ("fileright", "fileleft", "fileup", "filedown", "filefront", "fileback")

ASSET = element(children=many("mesh", "hfield", "skin", "texture", "material", "model"))

MESH = element(
    {
        "name": name("mesh"),
        "class": ref("default", in_default=False),
        "content_type": only_elements(text()),
        "file": only_elements(text()),
        "vertex": reals32(in_default=False),
        "normal": reals32(in_default=False),
        "texcoord": reals32(in_default=False),
        "face": integers(in_default=False),
        "refpos": real(3, default=ORIGIN, in_default=False),
        "refquat": real(4, default=IDENTITY, in_default=False),
        "scale": real(3, default=(1.0, 1.0, 1.0)),
        "smoothnormal": boolean(False, in_default=False),
        "maxhullvert": integer(default=-1, lowest=-1, blank=False),
        "inertia": key(k.MESH_INERTIA, "legacy"),
        "builtin": key(k.MESH_BUILTIN, in_default=False),
        "params": reals(in_default=False),
        "material": only_elements(ref("material")),
    },
    many("plugin"),
    [exclusive("builtin", "file"), exclusive("builtin", "vertex")],
    record="mesh",
)

PLUGIN = element({"plugin": text(), "instance": ref("instance")}, many("config"))

CONFIG = element({"key": required(text()), "value": required(text())})

HFIELD = element(
    {
        "name": name("hfield"),
        "content_type": text(),
        "file": text(),
        "nrow": integer(default=0),
        "ncol": integer(default=0),
        "size": required(real(4)),
        "elevation": reals32(),
    }
)

SKIN = element(
    {
        "name": name("skin"),
        "file": text(),
        "material": ref("material"),
        "rgba": real32(4, default=GREY),
        "inflate": real32(default=0.0),
        "vertex": reals32(),
        "texcoord": reals32(),
        "face": integers(),
        "group": integer(default=0, lowest=0, highest=5, blank=False),
    },
    many("bone"),
)

BONE = element(
    {
        "body": required(ref("body")),
        "bindpos": required(real32(3)),
        "bindquat": required(real32(4)),
        "vertid": required(integers()),
        "vertweight": required(reals32()),
    }
)

TEXTURE = element(
    {
        "name": name("texture"),
        "class": ref("default", in_default=False),
        "type": key(k.TEXTURE, "cube"),
        "colorspace": key(k.COLORSPACE, "auto"),
        "content_type": only_elements(text()),
        "file": only_elements(text()),
        "gridsize": integer(2, default=(1, 1)),
        "gridlayout": text(least=1, most=12, chars=True),
        **{attribute: only_elements(text()) for attribute in CUBE_FILES},
        "builtin": key(k.BUILTIN, "none"),
        "rgb1": real(3, default=(0.8, 0.8, 0.8)),
        "rgb2": real(3, default=(0.5, 0.5, 0.5)),
        "mark": key(k.MARK, "none"),
        "markrgb": real(3, default=ORIGIN),
        "random": real(default=0.01),
        "width": integer(default=0),
        "height": integer(default=0),
        "hflip": boolean(False),
        "vflip": boolean(False),
        "nchannel": integer(default=3),
        "embed": key(k.TRISTATE, "auto"),
    },
    record="texture",
)

MATERIAL = element(
    {
        "name": name("material"),
        "class": ref("default", in_default=False),
        "texture": ref("texture"),
        "texrepeat": real32(2, default=(1.0, 1.0)),
        "texuniform": boolean(False),
        "emission": real32(default=0.0),
        "specular": real32(default=0.5),
        "shininess": real32(default=0.5),
        "reflectance": real32(default=0.0),
        "metallic": real32(default=-1.0),
        "roughness": real32(default=-1.0),
        "rgba": real32(4, default=(1.0, 1.0, 1.0, 1.0)),
    },
    many("layer"),
    record="material",
)

LAYER = element({"texture": required(ref("texture")), "role": required(key(k.TEXTURE_ROLE))})

MODEL = element({"name": name("model"), "file": required(text()), "content_type": text()})

EXTENSION = element(children=many(plugin="extension_plugin"))
EXTENSION_PLUGIN = element({"plugin": required(text())}, many("instance"))
INSTANCE = element({"name": required(name("instance"))}, many("config"))

CUSTOM = element(children=many("numeric", "text", "tuple"))
NUMERIC = element({"name": required(name("numeric")), "size": integer(lowest=1, blank=False), "data": reals()})
TEXT = element({"name": required(name("text")), "data": text()})
TUPLE = element({"name": required(name("tuple"))}, many("element"))
TUPLE_ELEMENT = element({"objtype": required(text()), "objname": required(text()), "prm": real(default=0.0)})

KEYFRAME = element(children=many("key"))
KEY = element(
    {
        "name": name("key"),
        "time": real(default=0.0),
        "qpos": reals(),
        "qvel": reals(),
        "act": reals(),
        "plastic": reals(),
        "ctrl": reals(),
        "mpos": reals(),
        "mquat": reals(),
    }
)

ELEMENTS = {
    "asset": ASSET,
    "mesh": MESH,
    "plugin": PLUGIN,
    "config": CONFIG,
    "hfield": HFIELD,
    "skin": SKIN,
    "bone": BONE,
    "texture": TEXTURE,
    "material": MATERIAL,
    "layer": LAYER,
    "model": MODEL,
    "extension": EXTENSION,
    "extension_plugin": EXTENSION_PLUGIN,
    "instance": INSTANCE,
    "custom": CUSTOM,
    "numeric": NUMERIC,
    "text": TEXT,
    "tuple": TUPLE,
    "element": TUPLE_ELEMENT,
    "keyframe": KEYFRAME,
    "key": KEY,
}
