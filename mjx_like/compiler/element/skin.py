"""Skins: kept for a viewer."""

import numpy as np

from mjx_like.compiler.arrays import Row
from mjx_like.compiler.context import Context, vector
from mjx_like.compiler.element.geom import material
from mjx_like.compiler.pose import normalized
from mjx_like.constants import MINVAL
from mjx_like.mjcf.asset.skn import Bone, Skin, read_skin
from mjx_like.mjcf.spec import Element
from mjx_like.types.enums import ObjType


def compile_skins(ctx: Context, elements: list[Element]) -> tuple[list[Row], dict[str, list]]:
    """Return the fields of all skins, and their vertices, faces and bones.

    Raises:
      ModelError: bad data or an unknown body.
    Source: mjCSkin::Compile.
    """
    rows: list[Row] = []
    parts: dict[str, list] = {
        name: []
        for name in (
            "skin_vert", "skin_texcoord", "skin_face", "skin_bonebindpos", "skin_bonebindquat", "skin_bonebodyid",
            "skin_bonevertadr", "skin_bonevertnum", "skin_bonevertid", "skin_bonevertweight",
        )
    }  # fmt: skip
    for element in elements:
        a = ctx.spec.resolve(element)
        skin = read_skin(ctx.spec, element, a["file"]) if a.get("file") else _inline(element, a)
        vertices, texcoord, faces, bones = skin if a.get("stretch") is None else _stretched(skin, a["stretch"])
        if not len(vertices) or not len(faces) or not bones:
            raise element.error("needs vertices, faces and bones")
        if len(texcoord) not in (0, len(vertices)):
            raise element.error(f"has {len(texcoord)} texture coordinates for {len(vertices)} vertices")
        if faces.min() < 0 or faces.max() >= len(vertices):
            raise element.error("a face names a vertex that does not exist")
        rows.append(
            {
                "skin_matid": material(ctx, element, a),
                "skin_group": a["group"],
                "skin_rgba": a["rgba"],
                "skin_inflate": a["inflate"],
                "skin_vertadr": len(parts["skin_vert"]),
                "skin_vertnum": len(vertices),
                "skin_texcoordadr": len(parts["skin_texcoord"]) if len(texcoord) else -1,
                "skin_faceadr": len(parts["skin_face"]),
                "skin_facenum": len(faces),
                "skin_boneadr": len(parts["skin_bonebodyid"]),
                "skin_bonenum": len(bones),
            }
        )
        parts["skin_vert"] += list(vertices)
        parts["skin_texcoord"] += list(texcoord)
        parts["skin_face"] += list(faces)
        _add_bones(ctx, element, bones, len(vertices), parts)
    return rows, parts


def _stretched(skin: Skin, rotation: np.ndarray) -> Skin:
    """The skin of bones in a scaled frame."""
    bones = [bone._replace(pos=rotation @ bone.pos) for bone in skin.bones]
    return skin._replace(vertex=np.asarray(skin.vertex, float) @ rotation.T, bones=bones)


def _add_bones(ctx: Context, element: Element, bones: list[Bone], nvert: int, parts: dict[str, list]) -> None:
    total = np.zeros(nvert, np.float32)
    for body, _, _, ids, weights in bones:
        if not len(ids) or ids.min() < 0 or ids.max() >= nvert:
            raise element.error(f"bone '{body}' must name vertices between 0 and {nvert - 1}")
        np.add.at(total, ids, np.asarray(weights, np.float32))
    if not (total > MINVAL).all():
        vertex = int(np.flatnonzero(~(total > MINVAL))[0])
        raise element.error(f"the weights of vertex {vertex} must have a positive sum")
    for body, pos, quat, ids, weights in bones:
        parts["skin_bonebodyid"].append(ctx.names.find(ObjType.BODY, body, element, "body"))
        parts["skin_bonebindpos"].append(pos)
        parts["skin_bonebindquat"].append(normalized(quat)[0])
        parts["skin_bonevertadr"].append(len(parts["skin_bonevertid"]))
        parts["skin_bonevertnum"].append(len(ids))
        parts["skin_bonevertid"] += list(ids)
        parts["skin_bonevertweight"] += list(np.asarray(weights, np.float32) / total[ids])


def _inline(element: Element, a) -> Skin:
    bones = []
    for bone in element.find_all("bone"):
        ids, weights = np.asarray(bone.get("vertid", ()), int), np.asarray(bone.get("vertweight", ()), float)
        if len(ids) != len(weights):
            raise bone.error("vertid and vertweight must have one length")
        pose = vector(bone.get("bindpos"), 3), vector(bone.get("bindquat"), 4, (1, 0, 0, 0))
        bones.append(Bone(bone.get("body"), *pose, ids, weights))
    for name, width in (("vertex", 3), ("texcoord", 2), ("face", 3)):
        if len(a.get(name, ())) % width:
            raise element.error(f"{name} has {len(a[name])} numbers, needs a multiple of {width}")
    empty = np.zeros(0)
    vertices = np.reshape(a.get("vertex", empty), (-1, 3))
    texcoord = np.reshape(a.get("texcoord", empty), (-1, 2))
    return Skin(vertices, texcoord, np.reshape(a.get("face", empty), (-1, 3)).astype(int), bones)
