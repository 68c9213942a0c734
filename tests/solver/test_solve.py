"""The solver against MuJoCo C."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.constraint.stage import make_constraint, reference_constraint
from mjx_like.interop.convert import put_model
from mjx_like.solver.stage import solve
from tests.constraint.filled import filled
from tests.constraint.models import sliding, sliding_states
from tests.support.oracle import ACCELERATION, error, reference, states


def problems(cone, dim, count=24, impratio=1.0, tolerance=0.0, iterations=200):
    """Return (MjModel, Model, MjData of each state, Data stacked); islands off, so that C fills efc_state."""
    mj = mujoco.MjModel.from_xml_string(sliding(cone, dim, impratio))
    mj.opt.tolerance, mj.opt.iterations = tolerance, iterations
    mj.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND
    m = put_model(mj)
    refs = [reference(mj, s) for s in sliding_states(mj, count)]
    d = jax.tree.map(lambda *x: jnp.stack(x), *(filled(mj, m, r) for r in refs))
    return mj, m, refs, d


def solver(m):
    return jax.jit(jax.vmap(lambda d: solve(m, reference_constraint(m, make_constraint(m, d)))))


MORE = ("pyramidal", 3, 1.0), ("elliptic", 6, 1.0)


@pytest.mark.parametrize(
    ("cone", "dim", "impratio"),
    [("pyramidal", 6, 3.0), ("elliptic", 3, 5.0), *(pytest.param(*x, marks=pytest.mark.slow) for x in MORE)],
)
def test_acceleration_force_and_state(cone, dim, impratio):
    _, m, refs, d = problems(cone, dim, count=40, impratio=impratio)
    out, zones = solver(m)(d), np.zeros(5, int)
    for i, ref in enumerate(refs):
        n = ref.nefc
        assert error(out.qacc[i], ref.qacc) < ACCELERATION
        assert error(out.efc_force[i, :n], ref.efc_force) < ACCELERATION
        assert error(out.qfrc_constraint[i], ref.qfrc_constraint) < ACCELERATION
        np.testing.assert_array_equal(out.efc_state[i, :n], ref.efc_state)
        assert not np.asarray(out.efc_force[i, n:]).any()
        zones += np.bincount(ref.efc_state, minlength=5)
    assert zones[0] > 3 and zones[1] > 50 and zones[2] > 3 and zones[3] > 3
    assert zones[4] > 3 or cone == "pyramidal"
    assert not np.asarray(out.unconverged).any()
    assert np.asarray(out.solver_residual).max() < 1e-8


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_iterations_are_as_few_as_in_c(cone):
    _, m, refs, d = problems(cone, 3, tolerance=1e-8, iterations=100)
    out = solver(m)(d)
    ours, theirs = np.asarray(out.solver_niter), np.array([r.solver_niter[0] for r in refs])
    assert ours.mean() < theirs.mean() + 1 and ours.max() <= 15
    assert max(error(out.qacc[i], r.qacc) for i, r in enumerate(refs)) < 1e-3


@pytest.mark.slow
def test_start_does_not_change_the_optimum():
    _, m, _, d = problems("elliptic", 3)
    f = solver(m)
    a, b = f(d), f(d.replace(qacc_warmstart=d.qacc_warmstart + 100.0))
    assert error(b.qacc, a.qacc) < 1e-10
    cold = solver(m.replace(opt=m.opt.replace(disableflags=mujoco.mjtDisableBit.mjDSBL_WARMSTART)))(d)
    assert error(cold.qacc, a.qacc) < 1e-10


def test_iteration_cap_is_counted():
    _, m, _, d = problems("pyramidal", 3, tolerance=1e-8, iterations=1)
    out = solver(m)(d)
    assert np.asarray(out.solver_niter).max() == 1
    short = np.asarray(out.unconverged) == 1
    assert short.any() and (np.asarray(out.solver_residual)[short] > 1e-8).all()


@pytest.mark.slow
def test_blocks_and_nested_batches_do_not_change_results():
    _, m, _, d = problems("pyramidal", 3, count=8)
    many = jax.tree.map(lambda x: jnp.asarray(np.tile(x, (32,) + (1,) * (x.ndim - 1))), d)
    one, out = solver(m)(d), solver(m)(many)
    assert error(out.qacc.reshape(32, 8, -1), np.broadcast_to(one.qacc, (32, *one.qacc.shape))) < 1e-10
    nested = jax.jit(jax.vmap(jax.vmap(lambda d: solve(m, d), in_axes=0), in_axes=0))
    split = jax.tree.map(lambda x: x.reshape(4, 2, *x.shape[1:]), one)
    assert error(nested(split).qacc.reshape(one.qacc.shape), one.qacc) < 1e-10
    alone = jax.jit(lambda d: solve(m, d))(jax.tree.map(lambda x: x[3], one))
    assert error(alone.qacc, one.qacc[3]) < 1e-10


@pytest.mark.slow
def test_worlds_of_few_and_of_many_contacts_are_solved_apart():
    """More than 16 dofs and elliptic cones: a world takes the capacity of rows that it needs."""
    m = mjx.Model.from_xml_path("models/quadruped.xml")
    lowered = mjx.make_data(m, key=0).replace(qvel=jnp.linspace(-1, 1, m.nv))

    def one(height):
        return mjx.forward(m, lowered.replace(qpos=lowered.qpos.at[2].add(height)))

    heights = jnp.linspace(-0.45, 0.1, 12)
    many, alone = jax.jit(jax.vmap(one))(heights), jax.jit(lambda x: jax.lax.map(one, x))(heights)
    most = np.maximum(np.asarray(many.nefc - 6 * many.ncon), 4 * np.asarray(many.ncon))
    assert m.nv > 16 and (most <= 16).any() and (most > 16).any(), most
    np.testing.assert_array_equal(many.solver_niter, alone.solver_niter)
    assert error(many.qacc, alone.qacc) < 1e-10 and error(many.efc_force, alone.efc_force) < 1e-10


@pytest.mark.slow
def test_line_search_rescues_a_far_start():
    _, m, _, d = problems("elliptic", 3, count=8)
    mad = solver(m)(d.replace(qacc_warmstart=1e5 * jnp.sign(d.qacc_warmstart)))
    assert error(mad.qacc, solver(m)(d).qacc) < 1e-9


@pytest.mark.slow
def test_no_rows():
    mj = mujoco.MjModel.from_xml_string(sliding("pyramidal", 3))
    mj.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    m, ref = put_model(mj), reference(mj, states(mj, 2)[1])
    out = solve(m, make_constraint(m, filled(mj, m, ref)))
    assert error(out.qacc, ref.qacc) < ACCELERATION and int(out.nefc) == 0
