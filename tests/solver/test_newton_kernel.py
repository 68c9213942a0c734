"""Newton's kernel for GPUs, run operation by operation on a CPU, against the plain solver."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mjx_like.math.kernel import MOST
from mjx_like.solver import newton_kernel as kernel
from mjx_like.solver.law import Cone
from mjx_like.solver.newton import newton
from mjx_like.solver.problem import Settings

SETTINGS = Settings(iterations=20, ls_iterations=20, warmstart=True)
WORLDS = 6


def problems(nv: int, nrow: int, loss: float = 1.0):
    """Problems of several worlds; each has more rows in use than the last, and starts anew or from near its optimum."""
    made = [kernel.sample_problem(nv, nrow, seed) for seed in range(WORLDS)]
    p, start = jax.tree.map(lambda *x: jnp.stack(x), *made)
    used = np.linspace(0, nrow, WORLDS).astype(np.int32)
    law = p.law
    inside = np.arange(nrow) < used[:, None]
    law = law.replace(D=law.D * inside, loss=loss * law.loss * inside)
    p = p.replace(J=p.J * inside[..., None], law=law)
    return p, start.replace(nrow=jnp.asarray(used), warm=start.smooth + 0.3 * start.smooth[::-1])


def solved(solver, p, start, settings=SETTINGS, **options):
    return jax.jit(jax.vmap(functools.partial(solver, settings, **options)))(p, start)


@pytest.mark.parametrize(("nv", "nrow"), [(20, 40), (5, 3), (33, 70)])
def test_kernel_finds_the_same_optimum_in_as_many_iterations(nv, nrow):
    p, start = problems(nv, nrow)
    own, plain = solved(kernel.newton_kernel, p, start, interpret=True), solved(newton, p, start)
    assert np.array_equal(own.iterations, plain.iterations) and max(own.iterations) > 0
    used = np.arange(nrow) < np.asarray(start.nrow)[:, None]
    assert np.array_equal(np.asarray(own.state)[used], np.asarray(plain.state)[used])
    for name in ("qacc", "force", "constraint"):
        a, b = (np.asarray(getattr(s, name)) for s in (own, plain))
        assert np.abs(a - b).max() < 1e-10 * np.abs(b).max(), name
    assert np.abs(own.residual).max() < 1e-11  # D multiplies the rounding of J x
    assert not np.asarray(own.force)[~used].any()


def test_kernel_searches_along_steps_that_overshoot():
    p, start = problems(20, 40)
    p = p.replace(law=p.law.replace(D=1e3 * p.law.D, low=p.law.low / 1e3, high=p.law.high / 1e3))
    own, plain = solved(kernel.newton_kernel, p, start, interpret=True), solved(newton, p, start)
    without = solved(newton, p, start, SETTINGS._replace(ls_iterations=0))
    assert not np.array_equal(without.iterations, plain.iterations)  # some step is not taken in full
    assert np.array_equal(own.iterations, plain.iterations)
    assert np.abs(own.qacc - plain.qacc).max() < 1e-10 * np.abs(plain.qacc).max()


def test_kernel_keeps_to_the_limit_of_each_world():
    p, start = problems(20, 40)
    limit = jnp.arange(WORLDS, dtype=jnp.int32) % 3
    start = start.replace(limit=limit)
    own, plain = solved(kernel.newton_kernel, p, start, interpret=True), solved(newton, p, start)
    assert np.array_equal(own.iterations, plain.iterations) and np.all(own.iterations <= limit)
    assert np.abs(own.qacc - plain.qacc).max() < 1e-10 * np.abs(plain.qacc).max()


def test_kernel_takes_small_problems_in_single_precision_without_cones():
    p = jax.tree.map(lambda x: x.astype(jnp.float32), kernel.sample_problem()[0])
    assert kernel.takes(p)
    assert not kernel.takes(p.replace(law=p.law.replace(cone=Cone(scale=jnp.ones((1, 3)), mu=jnp.ones(1)))))
    assert not kernel.takes(p.replace(M=jnp.eye(MOST + 1, dtype=jnp.float32)))
    assert not kernel.takes(kernel.sample_problem()[0])
