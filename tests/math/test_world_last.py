"""A function mapped with the worlds last equals the same function under `jax.vmap`, primitive by primitive."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from mjx_like.math.linalg import cho_solve, cholesky, solve_definite, solve_general
from mjx_like.math.loop_rules import LOOP_RULES
from mjx_like.math.rule import custom_jvp
from mjx_like.math.world_last import map_last
from tests.support.oracle import error

RNG = np.random.default_rng(1)
WORLDS = 5
X, Y = RNG.normal(size=(WORLDS, 9, 3)), RNG.normal(size=(WORLDS, 9))
INDEX = RNG.integers(0, 9, size=(WORLDS, 4))
TABLE = RNG.normal(size=(9, 2))


@jax.custom_jvp
def _doubled(x):
    return 2 * x


@_doubled.defjvp
def _doubled_jvp(primals, tangents):
    return _doubled(*primals), 3 * tangents[0]


@custom_jvp
def _tripled(x, t):
    return {"of the world": 3 * x * t[:, None], "common": t}


@_tripled.defjvp
def _tripled_jvp(primals, tangents):
    (x, t), (dx, dt) = primals, tangents
    return _tripled(x, t), {"of the world": 5 * dx * t[:, None] + x * dt[:, None], "common": dt}


def _definite(x, y):
    return jnp.outer(y, y) + x @ x.T + 10 * jnp.eye(9)


def _small(x, y):
    return _definite(x, y)[:5, :5]


CASES = {
    "elementwise": lambda x, y, i, t: jnp.where(y > 0, jnp.sin(y) * t[:, 0], 2.0 * y),
    "scalar condition": lambda x, y, i, t: jnp.where(y[0] > 0, x, -x),
    "clamp": lambda x, y, i, t: jnp.clip(x, -0.5, y[:, None]),
    "shape": lambda x, y, i, t: jnp.broadcast_to(x.T.reshape(9, 3)[None], (2, 9, 3)).transpose(1, 2, 0),
    "join": lambda x, y, i, t: jnp.concatenate([x, t[:, :1], y[:, None]], axis=1),
    "stack and split": lambda x, y, i, t: jnp.stack([*jnp.split(x, 3, axis=0), t[:3, :1] * jnp.ones(3)], axis=1),
    "slice": lambda x, y, i, t: x[1:8:2, ::-1],
    "pad": lambda x, y, i, t: jnp.pad(x, ((1, 2), (0, 0)), constant_values=7),
    "pad with a value of the world": lambda x, y, i, t: lax.pad(y, y[0], ((1, 1, 0),)),
    "reduce": lambda x, y, i, t: jnp.sum(x * x, axis=-1) + jnp.max(x, axis=1) + jnp.any(x > 1) + jnp.argmax(y),
    "running total": lambda x, y, i, t: jnp.cumsum(x, axis=0),
    "sort": lambda x, y, i, t: (jnp.sort(y), jnp.argsort(y), lax.top_k(y, 3)),
    "rows by static index": lambda x, y, i, t: (x[np.array([3, 0, 3])], x[:, np.array([2, 0])], t[np.array([1, 1])]),
    "rows by index": lambda x, y, i, t: (x[i], y[i], x[i, 1], x[i[:, None], np.array([0, 2])]),
    "table by index": lambda x, y, i, t: (t[i], t[i, 1], t.at[i].get(mode="promise_in_bounds")),
    "common times mapped": lambda x, y, i, t: (t.T @ x, t.T @ y, jnp.einsum("ab,ca->cb", t, x.T)),
    "mapped times common": lambda x, y, i, t: (x.T @ t, y @ t),
    "short products of mapped": lambda x, y, i, t: (x @ x.T, x @ x[0]),
    "long products of mapped": lambda x, y, i, t: (x.T @ x, y @ y, jnp.einsum("ka,kb->kab", x, x)),
    "factor": lambda x, y, i, t: cho_solve(cholesky(_definite(x, y)), y),
    "definite": lambda x, y, i, t: solve_definite(_definite(x, y), y),
    "definite, small": lambda x, y, i, t: solve_definite(_small(x, y), y[:5]),
    "definite, common": lambda x, y, i, t: (
        solve_definite(t @ t.T + jnp.eye(9), y),
        solve_definite(_small(x, y), t[:5, 0]),
    ),
    "definite, large": lambda x, y, i, t: solve_definite(jnp.kron(jnp.eye(2), _definite(x, y)), jnp.tile(y, 2)),
    "regular": lambda x, y, i, t: solve_general(_small(x, y) + jnp.tri(5), y[:5]),
    "loops": lambda x, y, i, t: (
        lax.fori_loop(0, 3, lambda k, z: z * y[k] + t[:, 1], y),
        lax.while_loop(lambda z: z[0] < 3, lambda z: (z[0] + jnp.abs(y[0]) + 0.1, z[1] + 1), (0.0, 0)),
        lax.cond(y[0] > 0, lambda: x, lambda: -x),
    ),
    "loops of few turns": lambda x, y, i, t: lax.scan(
        lambda z, u: ((z[0] * u + t[0], z[1] + i[0], jnp.sin(z[2])), z[1]), (y[:2], 0, x), y
    ),
    "loops over the entries of an axis": lambda x, y, i, t: (
        lax.scan(lambda z, u: (z * u[0][:2] + t[0], (z, t[1])), y[:2], (x, t)),
        lax.scan(lambda z, u: (z + 1, z), 0, x, reverse=True),
        jax.vmap(lambda row: lax.fori_loop(0, 2, lambda k, z: z + row[k], 0.0))(x),
    ),
    "own derivative": lambda x, y, i, t: _doubled(x),
    "own derivative that loops keep": lambda x, y, i, t: _tripled(x, t[:, 0]),
    "scatter": lambda x, y, i, t: y.at[i[0]].add(1.0),
    "nothing mapped": lambda x, y, i, t: (t @ t.T, 3.0),
}


def both(function, rules=None):
    """Return what the function gives for all worlds, in lanes and under vmap, each with worlds first."""
    args = (jnp.asarray(X), jnp.asarray(Y), jnp.asarray(INDEX), jnp.asarray(TABLE))
    last = [jnp.moveaxis(x, 0, -1) for x in args[:3]]
    lanes = jax.jit(map_last(function, (True, True, True, False), rules))(*last, args[3])
    first = jax.jit(jax.vmap(function, in_axes=(0, 0, 0, None)))(*args)
    return jax.tree.map(lambda x: jnp.moveaxis(x, -1, 0), lanes), first


@pytest.mark.parametrize("rules", [None, LOOP_RULES], ids=["", "sums as loops"])
@pytest.mark.parametrize("name", CASES)
def test_equals_vmap(name, rules):
    lanes, first = both(CASES[name], rules)
    assert jax.tree.structure(lanes) == jax.tree.structure(first)
    for a, b in zip(jax.tree.leaves(lanes), jax.tree.leaves(first), strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        assert error(a, b) < 1e-13


OWN = ["own derivative", "own derivative that loops keep", "loops of few turns"]
DIFFERENTIATED = [name for name in CASES if name.startswith(("definite", "regular", "common times"))]


@pytest.mark.parametrize("name", ["elementwise", "rows by index", *OWN, *DIFFERENTIATED])
def test_gradients_equal_those_of_vmap(name):
    def slope(x, y, i, t):
        return jax.grad(
            lambda *z: sum(jnp.sum(v**2) for v in jax.tree.leaves(CASES[name](*z[:2], i, z[2]))), (0, 1, 2)
        )(x, y, t)

    inside, first = both(slope)

    def total(x, y, t):
        made = map_last(CASES[name], (True, True, True, False))(x, y, jnp.moveaxis(jnp.asarray(INDEX), 0, -1), t)
        return sum(jnp.sum(v**2) for v in jax.tree.leaves(made))

    args = (jnp.moveaxis(jnp.asarray(X), 0, -1), jnp.moveaxis(jnp.asarray(Y), 0, -1), jnp.asarray(TABLE))
    outside = jax.jit(jax.grad(total, argnums=(0, 1, 2)))(*args)
    for a, b in zip(inside, first, strict=True):
        assert error(a, b) < 1e-12
    for a, b in zip(outside[:2], first[:2], strict=True):
        assert error(jnp.moveaxis(a, -1, 0), b) < 1e-12
    assert error(outside[2], jnp.sum(first[2], axis=0)) < 1e-12


def test_what_a_loop_leaves_that_nobody_reads_is_not_computed():
    def world(x, y):
        (z, w), each = lax.scan(lambda z, u: ((z[0] + u, jnp.sin(z[1])), jnp.cos(z[1])), (y[:2], x), y)
        return z

    def program(x, y):
        return map_last(
            lambda x, y: lax.scan(lambda z, _: (world(x, y * z[0]), None), y[:2], None, 2)[0], (True, True)
        )(x, y)

    args = (jnp.moveaxis(jnp.asarray(X), 0, -1), jnp.moveaxis(jnp.asarray(Y), 0, -1))
    for f in (program, jax.grad(lambda x, y: jnp.sum(program(x, y)), argnums=1)):
        text = jax.jit(f).lower(*args).as_text()
        assert "stablehlo.add" in text and "sine" not in text
