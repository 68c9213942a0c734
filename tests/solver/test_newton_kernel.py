"""Newton's kernel for GPUs, run operation by operation on a CPU, against the plain solver."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mjx_like.math.on_gpu import MOST
from mjx_like.solver import newton_kernel as kernel
from mjx_like.solver.newton import newton
from mjx_like.solver.newton_anywhere import takes
from mjx_like.solver.problem import Settings

SETTINGS = Settings(iterations=20, ls_iterations=20, warmstart=True)
WORLDS = 4


def problems(nv: int, nrow: int, ncone: int = 0, axes: int = 3):
    """Problems of several worlds; each has more rows in use than the last, and starts anew or from near its optimum."""
    made = [kernel.sample_problem(nv, nrow, ncone, axes, seed) for seed in range(WORLDS)]
    p, start = jax.tree.map(lambda *x: jnp.stack(x), *made)
    share = np.linspace(0, 1, WORLDS)
    rows, cones = ((share * count).astype(np.int32) for count in (nrow, ncone))
    used = in_use(rows, cones, nrow, ncone, axes)
    law = p.law
    law = law.replace(D=law.D * used, loss=law.loss * used)
    p = p.replace(J=p.J * used[..., None], law=law)
    start = start.replace(nrow=jnp.asarray(rows), ncone=jnp.asarray(cones))
    return p, start.replace(warm=start.smooth + 0.3 * start.smooth[::-1]), used


def in_use(rows, cones, nrow, ncone, axes):
    plain = np.arange(nrow) < rows[:, None]
    return np.concatenate([plain, np.repeat(np.arange(ncone) < cones[:, None], axes, axis=1)], axis=1)


def solved(solver, p, start, settings=SETTINGS, **options):
    return jax.jit(jax.vmap(functools.partial(solver, settings, **options)))(p, start)


SIZES = [(20, 40)]
MORE_SIZES = [(20, 10, 17, 3), (5, 3), (33, 70), (14, 1, 5, 6)]


@pytest.mark.parametrize("sizes", [*SIZES, *(pytest.param(x, marks=pytest.mark.slow) for x in MORE_SIZES)])
def test_kernel_finds_the_same_optimum_in_as_many_iterations(sizes):
    p, start, used = problems(*sizes)
    own, plain = solved(kernel.newton_kernel, p, start, interpret=True), solved(newton, p, start)
    assert np.array_equal(own.iterations, plain.iterations) and max(own.iterations) > 0
    assert np.array_equal(np.asarray(own.state)[used], np.asarray(plain.state)[used])
    for name in ("qacc", "force", "constraint"):
        a, b = (np.asarray(getattr(s, name)) for s in (own, plain))
        assert np.abs(a - b).max() < 1e-10 * np.abs(b).max(), name
    assert np.abs(own.residual - plain.residual).max() < 1e-8  # D multiplies the rounding of J x
    assert not np.asarray(own.force)[~used].any()


def test_kernel_searches_along_steps_that_overshoot():
    p, start, _ = problems(20, 40)
    p = p.replace(law=p.law.replace(D=1e3 * p.law.D, low=p.law.low / 1e3, high=p.law.high / 1e3))
    own, plain = solved(kernel.newton_kernel, p, start, interpret=True), solved(newton, p, start)
    without = solved(newton, p, start, SETTINGS._replace(ls_iterations=0))
    assert not np.array_equal(without.iterations, plain.iterations)  # some step is not taken in full
    assert np.array_equal(own.iterations, plain.iterations)
    assert np.abs(own.qacc - plain.qacc).max() < 1e-10 * np.abs(plain.qacc).max()


@pytest.mark.slow
def test_kernel_keeps_to_the_limit_of_each_world():
    p, start, _ = problems(20, 40)
    limit = jnp.arange(WORLDS, dtype=jnp.int32) % 3
    start = start.replace(limit=limit)
    own, plain = solved(kernel.newton_kernel, p, start, interpret=True), solved(newton, p, start)
    assert np.array_equal(own.iterations, plain.iterations) and np.all(own.iterations <= limit)
    assert np.abs(own.qacc - plain.qacc).max() < 1e-10 * np.abs(plain.qacc).max()


def test_kernel_takes_small_problems_in_single_precision():
    p = jax.tree.map(lambda x: x.astype(jnp.float32), kernel.sample_problem(ncone=5)[0])
    assert takes(p) and p.law.cone is not None
    assert not takes(p.replace(M=jnp.eye(MOST + 1, dtype=jnp.float32)))
    assert not takes(kernel.sample_problem()[0])
