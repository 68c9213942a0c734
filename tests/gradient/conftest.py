"""Convex searches that end at the optimum, whose derivatives ours are, so that differences show nothing else."""

import jax
import jax.numpy as jnp
import pytest

from mjx_like.collision.convex import ccd
from mjx_like.collision.convex.derivative import settled

_deepest = ccd.deepest


def _at_optimum(a, b, kinds, found, **options):
    """Return what the convex search finds, curved shapes moved on to the optimum, whose derivatives ours are."""
    found = _deepest(a, b, kinds, found, **options)
    line = found.first - found.second
    better = settled(a, b, found, line / jnp.linalg.norm(line))[0]
    curved = (found.dist < 0) & jnp.logical_not(options["discrete"])
    return jax.tree.map(lambda x, y: jnp.where(curved, x, y), better, found)


@pytest.fixture
def searched_to_the_optimum(monkeypatch):
    monkeypatch.setattr(ccd, "deepest", _at_optimum)
