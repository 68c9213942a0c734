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
    made: dict[tuple[str, str], list[float]] = {}
    first: dict[Element, Element] = {}
    for part in ("geoms", "sites"):
        for placed in (placed for body in bodies for placed in getattr(body, part)):
            for tag in _SIZES:
                name = placed.attributes.get(tag)
                element = named.get((tag, name)) if name else None
                if element is None:
                    continue
                sizes = made.setdefault((tag, name), [])
                if placed.scale.length not in sizes:
                    sizes.append(placed.scale.length)
                    copy = _sized(ctx, element, placed.scale.length)
                    if len(sizes) == 1:
                        first[element] = copy
                    else:
                        copy.attrib["name"] = f"{name}@{len(sizes) - 1}"
                        assets.append(copy)
                if tag == "mesh" and part == "geoms" and placed.attributes["type"] in ("mesh", "sdf"):
                    _shell_density(ctx, element, placed)
                number = sizes.index(placed.scale.length)
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


def _sized(ctx: Context, element: Element, length: float) -> Element:
    """Return an asset of another size."""
    attribute = _SIZES[element.tag]
    a = ctx.spec.resolve(element)
    attrib = dict(element.attrib) | {"name": a["name"], attribute: np.asarray(a[attribute], float) * length}
    return dataclasses.replace(element, attrib=attrib)
