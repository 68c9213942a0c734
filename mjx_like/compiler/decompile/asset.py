"""Assets, custom fields and keyframes. MJCF has pixels in files alone: a flat texture of the mean colour stands in."""

import numpy as np

from mjx_like.compiler.context import KIND_NAMES
from mjx_like.compiler.decompile.mesh import meshes
from mjx_like.compiler.decompile.plugin import Plugins
from mjx_like.compiler.decompile.source import Source, said, word
from mjx_like.errors import ModelError
from mjx_like.mjcf.canonical import node
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.schema import keywords as k
from mjx_like.types.enums import ObjType, TextureType

KEY_VECTORS = ("qpos", "qvel", "act", "plastic", "ctrl", "mpos", "mquat")  # in the order in which they are written


def assets(s: Source, plugins: Plugins) -> list[Element]:
    """Textures, materials, height fields and meshes."""
    return (
        [_texture(s, index) for index in range(s["ntex"])]
        + [_material(s, index) for index in range(s["nmat"])]
        + [_hfield(s, index) for index in range(s["nhfield"])]
        + meshes(s, plugins)
    )


def _texture(s: Source, index: int) -> Element:
    if s["tex_adr"][index] < 0:
        raise ModelError(f"{s.label(ObjType.TEXTURE, index)} is by reference to its file; write the Spec")
    kind, height = TextureType(s["tex_type"][index]), int(s["tex_height"][index])
    attrib = {
        "name": s.name(ObjType.TEXTURE, index),
        "type": word(k.TEXTURE, kind),
        "colorspace": word(k.COLORSPACE, s["tex_colorspace"][index]),
        "builtin": "flat",
        **_mean_colors(s, index, kind),
        "width": int(s["tex_width"][index]),
        "height": height if kind == TextureType.TEXTURE_2D else int(s["tex_width"][index]),
        "nchannel": int(s["tex_nchannel"][index]),
    }
    return said("texture", attrib)


def _mean_colors(s: Source, index: int, kind: TextureType) -> dict[str, np.ndarray]:
    """Colours of a flat texture: of all pixels, or of all and of the side that is below."""
    start, width, channels = (int(s[f"tex_{name}"][index]) for name in ("adr", "width", "nchannel"))
    pixels = s["tex_data"][start : start + width * int(s["tex_height"][index]) * channels].reshape(-1, channels)
    if channels < 3 or not len(pixels):
        return {}
    six = kind != TextureType.TEXTURE_2D and len(pixels) == 6 * width**2
    below = pixels[3 * width**2 : 4 * width**2] if six else pixels
    return {name: np.round(part.mean(axis=0)[:3] / 255, 3) for name, part in (("rgb1", pixels), ("rgb2", below))}


def _material(s: Source, index: int) -> Element:
    label, layers = s.label(ObjType.MATERIAL, index), []
    for role, texture in enumerate(s["mat_texid"][index]):
        if texture >= 0:
            name = s.named(ObjType.TEXTURE, texture, label)
            layers.append(node("layer", {"role": word(k.TEXTURE_ROLE, role), "texture": name}))
    attrib = {"name": s.name(ObjType.MATERIAL, index), "texuniform": bool(s["mat_texuniform"][index])}
    for name in ("texrepeat", "rgba"):
        attrib[name] = s[f"mat_{name}"][index]
    for name in ("emission", "specular", "shininess", "reflectance", "metallic", "roughness"):
        attrib[name] = float(s[f"mat_{name}"][index])
    return said("material", attrib, layers)


def _hfield(s: Source, index: int) -> Element:
    rows, columns, start = (int(s[f"hfield_{name}"][index]) for name in ("nrow", "ncol", "adr"))
    data = s["hfield_data"][start : start + rows * columns]
    if data.min() != 0 or data.max() not in (0, 1):
        label = s.label(ObjType.HFIELD, index)
        raise ModelError(f"{label}: hfield_data is not from 0 to 1; the compiler scales it so: change hfield_size too")
    attrib = {
        "name": s.name(ObjType.HFIELD, index),
        "nrow": rows,
        "ncol": columns,
        "size": s["hfield_size"][index],
        "elevation": data.reshape(rows, columns)[::-1].ravel() if data.any() else None,
    }
    return said("hfield", attrib)


def skins(s: Source) -> list[Element]:
    """Skins with their bones."""
    return [_skin(s, index) for index in range(s["nskin"])]


def _skin(s: Source, index: int) -> Element:
    first = {name: int(s[f"skin_{name}adr"][index]) for name in ("vert", "face", "bone", "texcoord")}
    count = {name: int(s[f"skin_{name}num"][index]) for name in ("vert", "face", "bone")}
    material, label = int(s["skin_matid"][index]), s.label(ObjType.SKIN, index)
    texcoord = None
    if first["texcoord"] >= 0:
        later = [int(adr) for adr in s["skin_texcoordadr"] if adr > first["texcoord"]]
        texcoord = s["skin_texcoord"][first["texcoord"] : min(later, default=s["nskintexvert"])].ravel()
    attrib = {
        "name": s.name(ObjType.SKIN, index),
        "material": s.named(ObjType.MATERIAL, material, label) if material >= 0 else None,
        "rgba": s["skin_rgba"][index],
        "inflate": float(s["skin_inflate"][index]),
        "group": int(s["skin_group"][index]),
        "vertex": s["skin_vert"][first["vert"] :][: count["vert"]].ravel(),
        "texcoord": texcoord,
        "face": s["skin_face"][first["face"] :][: count["face"]].ravel(),
    }
    bones = [_bone(s, bone, label) for bone in range(first["bone"], first["bone"] + count["bone"])]
    return said("skin", attrib, bones)


def _bone(s: Source, index: int, label: str) -> Element:
    start, count = int(s["skin_bonevertadr"][index]), int(s["skin_bonevertnum"][index])
    attrib = {
        "body": s.named(ObjType.BODY, s["skin_bonebodyid"][index], label),
        "bindpos": s["skin_bonebindpos"][index],
        "bindquat": s["skin_bonebindquat"][index],
        "vertid": s["skin_bonevertid"][start : start + count],
        "vertweight": s["skin_bonevertweight"][start : start + count],
    }
    return node("bone", attrib)


def custom(s: Source) -> list[Element]:
    """Numeric, text and tuple fields."""
    found = []
    for index in range(s["nnumeric"]):
        start, size = int(s["numeric_adr"][index]), int(s["numeric_size"][index])
        data = np.array(s["numeric_data"][start : start + size])
        found.append(node("numeric", {"name": s.name(ObjType.NUMERIC, index), "data": data}))
    for index in range(s["ntext"]):
        start, size = int(s["text_adr"][index]), int(s["text_size"][index])
        data = bytes(np.asarray(s["text_data"][start : start + size - 1], np.uint8)).decode(errors="replace")
        found.append(node("text", {"name": s.name(ObjType.TEXT, index), "data": data}))
    for index in range(s["ntuple"]):
        start, size = int(s["tuple_adr"][index]), int(s["tuple_size"][index])
        entries = [_entry(s, entry, s.label(ObjType.TUPLE, index)) for entry in range(start, start + size)]
        found.append(node("tuple", {"name": s.name(ObjType.TUPLE, index)}, entries))
    return found


def _entry(s: Source, index: int, label: str) -> Element:
    kind = ObjType(s["tuple_objtype"][index])
    attrib = {
        "objtype": KIND_NAMES[kind],
        "objname": s.named(kind, s["tuple_objid"][index], label),
        "prm": float(s["tuple_objprm"][index]),
    }
    return node("element", attrib)


def keyframes(s: Source) -> list[Element]:
    """Keyframes, every vector in full."""
    found = []
    for index in range(s["nkey"]):
        attrib = {"name": s.name(ObjType.KEY, index), "time": float(s["key_time"][index])}
        for name in KEY_VECTORS:
            values = np.ravel(s[f"key_{name}"][index])
            attrib[name] = values if len(values) else None
        found.append(said("key", attrib))
    return found
