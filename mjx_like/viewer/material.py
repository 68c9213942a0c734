"""Colours and pictures as viser takes them."""

from typing import Any

import numpy as np

from mjx_like.visual.look import Look
from mjx_like.visual.surface import Surface


def color_bytes(rgba: np.ndarray) -> np.ndarray:
    """Return a colour from 0 to 255, shape (3,), uint8; rgba: from 0 to 1."""
    return np.clip(np.round(255 * rgba[:3]), 0, 255).astype(np.uint8)


def linear_bytes(rgba: np.ndarray) -> np.ndarray:
    """Return a colour as batched meshes take it, shape (3,), uint8: in proportion to light.

    rgba: as pixels have it (sRGB), from 0 to 1.
    """
    pixel = np.clip(rgba[:3], 0, 1)
    return color_bytes(np.where(pixel <= 0.04045, pixel / 12.92, ((pixel + 0.055) / 1.055) ** 2.4))


def rgb(rgba: np.ndarray) -> tuple[int, int, int]:
    """Return a colour as three numbers from 0 to 255; rgba: from 0 to 1."""
    red, green, blue = (int(x) for x in color_bytes(rgba))
    return red, green, blue


def opacity(look: Look) -> float | None:
    """Return how opaque a look is, None where it is wholly."""
    return None if look.rgba[3] >= 1 else float(look.rgba[3])


def pictured(surface: Surface, look: Look, two_sided: bool) -> Any:
    """Return a trimesh with a picture; its texture coordinates begin at the lower left corner.

    two_sided: whether it is seen from behind; where it is, viser lets it cast stripes of shadow on itself.
    """
    import trimesh
    from PIL import Image

    image = Image.fromarray(np.asarray(look.picture).squeeze())
    material = trimesh.visual.material.PBRMaterial(
        baseColorTexture=image, baseColorFactor=np.append(linear_bytes(look.rgba), int(255 * look.rgba[3])),
        metallicFactor=0.0, roughnessFactor=1.0, doubleSided=two_sided,
    )  # fmt: skip
    texcoord = surface.texcoord * [1, -1] + [0, 1]
    visual = trimesh.visual.TextureVisuals(uv=texcoord, material=material)
    plain = trimesh.Trimesh(surface.vertex, surface.face, process=False)
    normals = plain.vertex_normals  # a file without them is drawn with flat triangles
    return trimesh.Trimesh(surface.vertex, surface.face, vertex_normals=normals, visual=visual, process=False)
