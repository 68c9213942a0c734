"""Meshes and height fields of scaled frames: one for each size at which they are used.

The first use keeps the name; those of other sizes are called name@1, name@2, ... and stand behind all others.
Source: XML reference (frame: scale); the order was found by trial on MuJoCo 4.0.0.
"""

import dataclasses
from typing import Any

import numpy as np

from mjx_like.compiler.context import Context
from mjx_like.mjcf.spec import Element

_SIZES = {"mesh": "scale", "hfield": "size"}


def scale_assets(ctx: Context, bodies: list[Any]) -> None:
    """Give the geoms and sites of bodies the meshes and height fields of their size; the model gets these assets."""
    assets = list(ctx.spec.sections["asset"])
    named = {(e.tag, ctx.spec.resolve(e).get("name")): e for e in assets if e.tag in _SIZES}
    made: dict[tuple[str, str], list[np.ndarray]] = {}
    first: dict[Element, Element] = {}
    for part in ("geoms", "sites"):
        for placed in (placed for body in bodies for placed in getattr(body, part)):
            for tag in _SIZES:
                name = placed.attributes.get(tag)
                element = named.get((tag, name)) if name else None
                if element is None:
                    continue
                sizes, size = made.setdefault((tag, name), []), placed.scale.map
                number = next((i for i, other in enumerate(sizes) if np.array_equal(other, size)), len(sizes))
                if number == len(sizes):
                    sizes.append(size)
                    copy = _sized(ctx, element, size)
                    if number == 0:
                        first[element] = copy
                    else:
                        copy.attrib["name"] = f"{name}@{number}"
                        assets.append(copy)
                if tag == "mesh" and part == "geoms" and placed.attributes["type"] in ("mesh", "sdf"):
                    _shell_density(ctx, element, placed)
                if number:
                    placed.attributes = dict(placed.attributes) | {tag: f"{name}@{number}"}
    sections = ctx.spec.sections | {"asset": [first.get(element, element) for element in assets]}
    ctx.spec = dataclasses.replace(ctx.spec, sections=sections)


def _shell_density(ctx: Context, element: Element, placed: Any) -> None:
    """Undo one factor of the density of a geom whose mesh has its mass in the surface: it is a mass by area."""
    a = ctx.spec.resolve(element)
    if a["inertia"] == "shell" or a.get("builtin") == "plate":
        density = placed.attributes["density"] * placed.scale.length
        placed.attributes = dict(placed.attributes) | {"density": density}


def _sized(ctx: Context, element: Element, size: np.ndarray) -> Element:
    """Return an asset to which a linear map is applied; one that turns the axes of a mesh, to its vertices."""
    a = ctx.spec.resolve(element)
    along = np.diag(size)
    if element.tag == "hfield":
        along = np.linalg.norm(size, axis=0)
        change = {"size": np.asarray(a["size"], float) * along[[0, 1, 2, 2]]}
    elif (size == np.diag(along)).all():
        change = {"scale": np.asarray(a["scale"], float) * along}
    else:
        change = {"stretch": size}
    return dataclasses.replace(element, attrib=dict(element.attrib) | {"name": a["name"]} | change)
