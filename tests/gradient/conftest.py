"""Convex searches that end at the optimum, whose derivatives ours are, so that differences show nothing else."""

import jax
import jax.numpy as jnp
import pytest

from mjx_like.collision import hfield
from mjx_like.collision.convex import ccd, convex_pair
from mjx_like.collision.convex.derivative import settled


def _at_optimum(a, b, kinds, **options):
    """Return what the convex search finds, curved shapes moved on to the optimum, whose derivatives ours are."""
    found = ccd.nearest(a, b, kinds, **options)
    line = found.first - found.second
    better = settled(a, b, found, line / jnp.linalg.norm(line))[0]
    curved = (found.dist < 0) & jnp.logical_not(options["discrete"])
    return jax.tree.map(lambda x, y: jnp.where(curved, x, y), better, found)


@pytest.fixture
def searched_to_the_optimum(monkeypatch):
    monkeypatch.setattr(convex_pair, "nearest", _at_optimum)
    monkeypatch.setattr(hfield, "nearest", _at_optimum)
