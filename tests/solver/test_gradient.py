"""Implicit gradients of the optimum against central differences of converged solves."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mjx_like.solver.implicit_gradient import optimum
from mjx_like.solver.law import Cone, Law, curved, state, zones
from mjx_like.solver.problem import Problem, Settings, Start, times
from tests.support.oracle import error

NV, NPLAIN, NCONE, NDIM = 6, 9, 3, 4
EXACT = Settings(iterations=100, ls_iterations=50, warmstart=True)


def problem(seed: int, cones: bool) -> Problem:
    """Return a random problem: 3 equalities, 3 rows with friction loss, 3 one-sided rows, and cones."""
    rng = np.random.default_rng(seed)
    n = NPLAIN + (NCONE * NDIM if cones else 0)
    M = rng.normal(size=(NV, NV))
    loss = np.zeros(n)
    loss[3:6] = rng.uniform(0.1, 2, 3)
    D = rng.uniform(0.5, 5, n)
    high = np.zeros(n)
    high[:3], high[3:6] = np.inf, loss[3:6] / D[3:6]
    low = np.full(n, -np.inf)
    low[3:6] = -high[3:6]
    cone = None
    if cones:
        slip, impratio = rng.uniform(0.3, 1, (NCONE, NDIM - 1)), 2.0
        mu = slip[:, 0] / np.sqrt(impratio)
        first = rng.uniform(0.5, 5, NCONE)
        mass = np.concatenate([first[:, None], first[:, None] * impratio * slip**2 / slip[:, :1] ** 2], axis=1)
        D[NPLAIN:] = mass.ravel()
        cone = Cone(scale=jnp.asarray(np.concatenate([mu[:, None], slip], axis=1)), mu=jnp.asarray(mu))
    law = Law(D=jnp.asarray(D), low=jnp.asarray(low), high=jnp.asarray(high), loss=jnp.asarray(loss), cone=cone)
    return Problem(
        M=jnp.asarray(M @ M.T + NV * np.eye(NV)),
        q=jnp.asarray(6 * rng.normal(size=NV)),
        J=jnp.asarray(rng.normal(size=(n, NV))),
        aref=jnp.asarray(rng.normal(size=n)),
        law=law,
    )


def start(p: Problem, warm=0.0, tolerance=0.0) -> Start:
    ncone = 0 if p.law.cone is None else NCONE
    x = jnp.linalg.solve(p.M, p.q)
    return jax.lax.stop_gradient(
        Start(
            smooth=x,
            warm=x + warm,
            nrow=jnp.int32(NPLAIN),
            ncone=jnp.int32(ncone),
            tolerance=jnp.asarray(tolerance, x.dtype),
        )
    )


def moved(p: Problem, v: jnp.ndarray) -> Problem:
    """Return the problem with every parameter changed along fixed directions by the entries of v, shape (8,)."""
    rng = np.random.default_rng(7)
    away = lambda x: jnp.asarray(rng.normal(size=x.shape), x.dtype)  # noqa: E731
    twist = away(p.M)
    scale = 1 + 0.1 * v[4] * away(p.law.D)
    bound = 1 + 0.1 * v[5]
    cone = p.law.cone
    if cone is not None:
        cone = cone.replace(scale=cone.scale * (1 + 0.1 * v[6] * away(cone.scale)), mu=cone.mu * (1 + 0.1 * v[7]))
    loss = p.law.loss > 0
    low, high, force = (jnp.where(loss, jnp.where(loss, x, 1) * bound, x) for x in (p.law.low, p.law.high, p.law.loss))
    law = p.law.replace(D=p.law.D * scale, low=low, high=high, loss=force, cone=cone)
    return p.replace(
        M=p.M + v[0] * 0.1 * (twist + twist.T),
        q=p.q + v[1] * away(p.q),
        J=p.J + v[2] * 0.1 * away(p.J),
        aref=p.aref + v[3] * away(p.aref),
        law=law,
    )


def outputs(p: Problem, v, settings=EXACT, **kw):
    q = moved(p, v)
    s = optimum(settings, q, start(q, **kw))
    return jnp.concatenate([s.qacc, s.force, s.constraint])


@pytest.mark.parametrize("cones", [pytest.param(False, marks=pytest.mark.slow), True])
def test_jacobian_equals_differences_in_every_zone(cones):
    size = 160 if cones else 60
    ps = [problem(seed, cones) for seed in range(size)]
    p = jax.tree.map(lambda *x: jnp.stack(x), *ps)
    v = jnp.zeros((size, 8))
    forward = jax.jit(jax.vmap(jax.jacfwd(outputs, argnums=1)))(p, v)
    h, f = 1e-6, jax.jit(jax.vmap(outputs))
    sides = [[f(p, v.at[:, i].add(s * h)) for i in range(8)] for s in (1, -1)]
    central = np.stack([(a - b) / (2 * h) for a, b in zip(*sides, strict=True)], axis=-1)
    right = f(p, v)
    one_sided = np.stack([(a - right) / h for a in sides[0]], axis=-1)
    smooth = np.array([error(a, b) < 1e-3 for a, b in zip(one_sided, central, strict=True)])
    assert smooth.mean() > 0.95
    worst = max(error(a, b) for a, b, ok in zip(forward, central, smooth, strict=True) if ok)
    assert worst < 1e-6
    qacc = right[:, :NV]
    zone = jax.vmap(lambda p, x: zones(p.law, times(p.J, x) - p.aref))(p, qacc)
    states = np.asarray(jax.vmap(lambda p, z: state(p.law, z))(p, zone))
    visits = np.bincount(states.ravel(), minlength=5)
    assert (visits[: 5 if cones else 4] >= 50).all(), visits
    assert bool(jax.vmap(lambda p, z: curved(p.law, z))(p, zone).any()) == cones


@pytest.mark.slow
def test_reverse_equals_forward_and_batches_commute():
    size = 12
    p = jax.tree.map(lambda *x: jnp.stack(x), *(problem(seed, True) for seed in range(size)))
    v = 0.01 * jnp.ones((size, 8))
    loss = lambda p, v: jnp.sum(jnp.sin(outputs(p, v)))  # noqa: E731
    reverse = jax.jit(jax.vmap(jax.grad(loss, argnums=1)))(p, v)
    forward = jax.jit(jax.vmap(jax.jacfwd(loss, argnums=1)))(p, v)
    assert error(reverse, forward) < 1e-10
    whole = jax.jit(jax.grad(lambda v: jnp.sum(jax.vmap(loss)(p, v))))(v)
    assert error(whole, reverse) < 1e-12
    one = jax.jit(jax.grad(loss, argnums=1))
    loop = np.stack([one(jax.tree.map(lambda x, i=i: x[i], p), v[i]) for i in range(size)])
    assert error(loop, reverse) < 1e-12
    nested = jax.jit(jax.vmap(jax.vmap(jax.grad(loss, argnums=1))))
    grid = nested(jax.tree.map(lambda x: x.reshape(3, 4, *x.shape[1:]), p), v.reshape(3, 4, 8))
    assert error(grid.reshape(size, 8), reverse) < 1e-12


@pytest.mark.slow
def test_gradient_does_not_depend_on_start_or_iterations():
    p, v = problem(3, True), jnp.zeros(8)
    grad = lambda **kw: jax.jit(jax.jacfwd(lambda v: outputs(p, v, **kw)))(v)  # noqa: E731
    a = grad()
    assert error(grad(warm=50.0), a) < 1e-10
    assert error(grad(settings=EXACT._replace(iterations=40)), a) < 1e-10
    assert error(grad(tolerance=1e-8), a) < 1e-6
    assert np.abs(np.asarray(a)).max() > 0.1


def test_second_order():
    p = problem(5, False)
    f = lambda x: jnp.sum(outputs(p, x * jnp.ones(8))[:NV] ** 2)  # noqa: E731
    h, x = 1e-4, jnp.asarray(0.01)
    g = jax.jit(jax.grad(f))
    assert error(jax.jit(jax.grad(jax.grad(f)))(x), (g(x + h) - g(x - h)) / (2 * h)) < 1e-5


@pytest.mark.slow
def test_single_precision():
    p64 = problem(4, True)
    p32 = jax.tree.map(lambda x: x.astype(jnp.float32), p64)
    jac = jax.jit(lambda p: jax.jacfwd(lambda v: outputs(p, v, tolerance=1e-6)[:NV])(jnp.zeros(8, p.q.dtype)))
    a, b = jac(p64), np.asarray(jac(p32))
    assert b.dtype == np.float32 and error(b, a) < 1e-3
