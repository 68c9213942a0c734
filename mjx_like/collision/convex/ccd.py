"""Signed distance of two convex geoms of any types, as MuJoCo's nativeccd finds it."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.collision.convex import epa, gjk, polytope
from mjx_like.collision.convex.gjk import FAR, Corners
from mjx_like.geometry.convex import Convex, pair
from mjx_like.types.enums import GeomType

__all__ = ["FAR", "Nearest", "nearest"]

Array = jax.Array


class Nearest(NamedTuple):
    """The nearest points of two geoms, or the deepest."""

    dist: Array  # signed distance, margins taken off, shape () [m]; FAR above the cutoff; 0 where none was found
    first: Array  # witness point on the first geom, shape (3,) [m], world; on the layer of its margin
    second: Array
    corners: Corners  # of the final face or simplex, three; they repeat where there are fewer
    known: Array  # True where the corners tell which features touch


def nearest(a: Convex, b: Convex, kinds: tuple[tuple[int, ...], tuple[int, ...]], *, tolerance: Array | float,
            iterations: int, cutoff: Array | float = 0.0, discrete: Array | bool = False) -> Nearest:  # fmt: skip
    """Return signed distance and witness points; no derivative passes. For one pair: map over pairs with vmap.

    The contact normal is the unit vector along first - second where dist < 0, along second - first where it is
    positive; the contact point is midway.

    Args:
      a, b: the geoms, see `geometry.convex.convex`; a mesh is a set of points of kind MESH, a prism of kind HFIELD.
      kinds: the types that `a` and `b` can have; only their support functions are compiled.
      tolerance: opt.ccd_tolerance [m].
      iterations: opt.ccd_iterations, static.
      cutoff: largest distance of interest [m]; 0 asks for contacts alone and is fastest.
      discrete: True where both are boxes, meshes or prisms: the search is then finite, and exact.

    Source: mjc_ccd.
    """
    options = {"tolerance": tolerance, "iterations": iterations, "discrete": discrete}
    found = apart(a, b, kinds, cutoff=cutoff, **options)
    numbered = True if kinds[0] != (GeomType.HFIELD,) else cutoff > 0  # with a margin MuJoCo's prisms have no corners
    return deepest(a, b, kinds, found, numbered=numbered, **options)


def apart(a: Convex, b: Convex, kinds: tuple[tuple[int, ...], tuple[int, ...]], *, tolerance: Array | float,
          iterations: int, cutoff: Array | float = 0.0, discrete: Array | bool = False) -> gjk.Distance:  # fmt: skip
    """Return the first half of `nearest`: the distance of geoms that are apart, and where the second half starts."""
    a, b = lax.stop_gradient((a, b))
    tolerance, cutoff = (lax.stop_gradient(jnp.asarray(x, a.pos.dtype)) for x in (tolerance, cutoff))
    return gjk.distance(pair(a, b), kinds, cutoff=cutoff, tolerance=tolerance, iterations=iterations, discrete=discrete)


def overlaps(found: gjk.Distance, tolerance: Array | float) -> Array:
    """Return whether the geoms themselves overlap, within their margins, so that `deepest` has to search."""
    return ~found.reduced & (found.dist <= tolerance) & (found.count > 1) & ~found.apart


def deepest(a: Convex, b: Convex, kinds: tuple[tuple[int, ...], tuple[int, ...]], found: gjk.Distance, *,
            tolerance: Array | float, iterations: int, discrete: Array | bool = False,
            numbered: Array | bool = True) -> Nearest:  # fmt: skip
    """Return the second half of `nearest`: the penetration where geoms overlap, else what `apart` found.

    numbered: see `epa.penetration`.
    """
    a, b = lax.stop_gradient((a, b))
    tolerance = lax.stop_gradient(jnp.asarray(tolerance, a.pos.dtype))
    geoms, deep = pair(a, b), overlaps(found, tolerance)
    begun = polytope.start(geoms, kinds, found.simplex, found.count, found.seen, iterations + 5)
    begun = begun._replace(sound=begun.sound & deep)
    options = {"tolerance": tolerance, "iterations": iterations, "discrete": discrete}
    inner = epa.penetration(geoms, kinds, begun, numbered=numbered, **options)
    rows = jnp.where(found.count > np.arange(3), np.arange(3), 0)
    return Nearest(
        jnp.where(deep, jnp.where(inner.found, -inner.depth, 0), found.dist),
        jnp.where(inner.found, inner.first, found.first),
        jnp.where(inner.found, inner.second, found.second),
        Corners(jnp.where(inner.found, inner.corners.table, found.simplex.table[rows])),
        inner.found | (found.reduced & (found.dist < 0)),
    )
