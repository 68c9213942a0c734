"""CG, PGS and the noslip solver against MuJoCo C, iteration by iteration; their gradients."""

import functools

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.constraint.stage import make_constraint, reference_constraint
from mjx_like.interop.convert import put_model
from mjx_like.solver.implicit_gradient import SOLVERS, optimum
from mjx_like.solver.problem import Islands, Settings
from mjx_like.solver.stage import solve
from mjx_like.types.enums import SolverType
from tests.constraint.filled import filled
from tests.constraint.models import sliding, sliding_states
from tests.solver.test_gradient import moved, outputs, problem, start
from tests.solver.test_solve import solver
from tests.support.oracle import error, reference

NAMES = {"CG": SolverType.CG, "PGS": SolverType.PGS}


def setup(cone, dim, count=8, **options):
    mj = mujoco.MjModel.from_xml_string(sliding(cone, dim, 2.0))
    for name, value in options.items():
        setattr(mj.opt, name, value)
    m = put_model(mj)
    assert not m.unsupported
    refs = [reference(mj, s) for s in sliding_states(mj, count)]
    return m, refs, jax.tree.map(lambda *x: jnp.stack(x), *(filled(mj, m, r) for r in refs))


@pytest.mark.parametrize(
    ("name", "cone", "dim"),
    [
        ("CG", "pyramidal", 3),
        pytest.param("PGS", "elliptic", 6, marks=pytest.mark.slow),
        pytest.param("CG", "elliptic", 6, marks=pytest.mark.slow),
        ("PGS", "pyramidal", 3),
    ],
)
def test_iterates_are_those_of_c(name, cone, dim):
    m, refs, d = setup(cone, dim, solver=NAMES[name], iterations=20, tolerance=1e-8)
    if cone == "pyramidal":  # more worlds than a lot of PGS has
        refs = 10 * refs
        d = jax.tree.map(lambda x: jnp.concatenate(10 * [x]), d)
    out, islands = solver(m)(d), set()
    for i, ref in enumerate(refs):
        n = ref.nefc
        assert int(out.solver_niter[i]) == ref.solver_niter.max()
        assert error(out.qacc[i], ref.qacc) < 1e-7
        assert error(out.efc_force[i, :n], ref.efc_force) < 1e-7
        assert error(out.qfrc_constraint[i], ref.qfrc_constraint) < 1e-7
        islands.add(ref.nisland)
    assert len(islands) > 1 and max(islands) > 1
    count = np.asarray(out.solver_niter)
    assert count.min() < 20 == count.max()


@pytest.mark.parametrize("name", NAMES)
def test_islands_off_is_one_island(name):
    m, refs, d = setup("pyramidal", 3, solver=NAMES[name], disableflags=mujoco.mjtDisableBit.mjDSBL_ISLAND)
    out = solver(m)(d)
    assert [int(n) for n in out.solver_niter] == [r.solver_niter[0] for r in refs]
    for i, ref in enumerate(refs):
        assert error(out.qacc[i], ref.qacc) < 1e-7
        np.testing.assert_array_equal(out.efc_state[i, : ref.nefc], ref.efc_state)


@pytest.mark.parametrize(
    ("cone", "dim", "name"),
    [
        ("pyramidal", 4, "NEWTON"),
        pytest.param("elliptic", 3, "NEWTON", marks=pytest.mark.slow),
        pytest.param("elliptic", 6, "PGS", marks=pytest.mark.slow),
    ],
)
def test_noslip(cone, dim, name):
    m, refs, d = setup(cone, dim, noslip_iterations=3, solver=SolverType[name], tolerance=0, iterations=200)
    plain = put_model(mujoco.MjModel.from_xml_string(sliding(cone, dim, 2.0)))
    out, changed = solver(m)(d), 0
    base = solver(plain)(d)
    for i, ref in enumerate(refs):
        assert error(out.qacc[i], ref.qacc) < 1e-7 and error(out.efc_force[i, : ref.nefc], ref.efc_force) < 1e-7
        changed += error(base.efc_force[i], out.efc_force[i]) > 1e-3
    assert changed > 0


@functools.cache
def newton(cones):
    """Return a problem, its solution by Newton and the derivative of that."""
    p, v = problem(3, cones), jnp.zeros(8)
    slope, value = jax.jit(jax.jacfwd(lambda v: (outputs(p, v),) * 2, has_aux=True))(v)
    return p, value, slope


# PGS stalls short of the optimum of a random problem with elliptic cones, as block descent may
@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "cones"), [(k, c) for k in SOLVERS for c in (False, True) if k != SolverType.PGS or not c]
)
def test_gradients_are_those_of_the_optimum(kind, cones):
    p, value, slope = newton(cones)
    rows = p.aref.shape[0]
    settings = Settings(iterations=2000, ls_iterations=50, warmstart=True, solver=kind)

    def f(v):
        q = moved(p, v)
        s = start(q).replace(
            ls_tolerance=jnp.asarray(0.01), islands=Islands(dof=jnp.ones((1, 6)), row=jnp.ones((1, rows)))
        )
        s = optimum(settings, q, jax.lax.stop_gradient(s))
        return (jnp.concatenate([s.qacc, s.force, s.constraint]),) * 2

    own_slope, own_value = jax.jit(jax.jacfwd(f, has_aux=True))(jnp.zeros(8))
    assert error(own_value, value) < 1e-6
    assert error(own_slope, slope) < 1e-5


@pytest.mark.slow
def test_noslip_gradient_equals_differences():
    m, _, d = setup("pyramidal", 3, count=6, noslip_iterations=400, noslip_tolerance=0, iterations=100, tolerance=0)

    def f(v, d):
        e = d.replace(
            qfrc_smooth=d.qfrc_smooth * (1 + v[0]), qacc_smooth=d.qacc_smooth * (1 + v[0]), qvel=d.qvel * (1 + v[1])
        )
        e = e.replace(contact=e.contact.replace(friction=e.contact.friction * (1 + v[2])))
        e = solve(m, reference_constraint(m, make_constraint(m, e)))
        return jnp.concatenate([e.qacc, e.qfrc_constraint])

    v, h = jnp.zeros((6, 3)), 1e-6
    g = jax.jit(jax.vmap(f))
    forward = jax.jit(jax.vmap(jax.jacfwd(f)))(v, d)
    reverse = jax.jit(jax.vmap(jax.grad(lambda v, d: jnp.sum(jnp.sin(1e-2 * f(v, d))))))(v, d)
    plus, minus = ([g(v.at[:, i].add(s * h), d) for i in range(3)] for s in (1, -1))
    here = g(v, d)
    central = np.stack([(a - b) / (2 * h) for a, b in zip(plus, minus, strict=True)], axis=-1)
    one_sided = np.stack([(a - here) / h for a in plus], axis=-1)
    smooth = [i for i in range(6) if error(one_sided[i], central[i]) < 1e-4]
    assert len(smooth) > 2
    assert max(error(forward[i], central[i]) for i in smooth) < 1e-5
    chain = 1e-2 * np.cos(1e-2 * np.asarray(here))[..., None] * np.asarray(forward)
    assert error(reverse, chain.sum(axis=1)) < 1e-8
