"""Constraint rows against MuJoCo C, row by row."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.constraint.stage import make_constraint, reference_constraint
from mjx_like.interop.convert import put_model
from mjx_like.types.enums import WarningType
from tests.constraint.filled import ROWS, dense_jacobian, filled
from tests.constraint.models import every_row, sliding, sliding_states
from tests.support.oracle import ROW, error, load, reference, states


def rows(m):
    return jax.jit(lambda d: reference_constraint(m, make_constraint(m, d)))


def compare(mj, ref, d):
    n = ref.nefc
    assert (int(d.nefc), int(d.ne), int(d.nf), int(d.nl)) == (n, ref.ne, ref.nf, ref.nl)
    wrong = {name: error(np.asarray(getattr(d, name))[:n], getattr(ref, name)) for name in ROWS}
    wrong["efc_J"] = error(np.asarray(d.efc_J)[:n], dense_jacobian(mj, ref))
    assert not {name: e for name, e in wrong.items() if not e < ROW}
    assert np.array_equal(np.asarray(d.contact.efc_address)[: ref.ncon], [c.efc_address for c in ref.contact])
    for name in ("efc_J", "efc_D", "efc_aref", "efc_frictionloss"):
        assert not np.asarray(getattr(d, name))[n:].any()


@pytest.mark.parametrize(("cone", "dim"), [("pyramidal", 1), ("pyramidal", 6), ("elliptic", 3), ("elliptic", 6)])
def test_every_kind_of_row(cone, dim):
    mj, m = load(every_row(cone, dim))
    assert not m.unsupported
    f, kinds, slipping = rows(m), set(), 0
    for i, state in enumerate(states(mj, 6, steps=10)):
        state["eq_active"] = (np.arange(mj.neq) + i) % 3 > 0
        ref = reference(mj, state)
        compare(mj, ref, f(filled(mj, m, ref)))
        kinds |= set(ref.efc_type.tolist())
        slipping += sum(c.exclude == 1 for c in ref.contact)
    assert kinds == {0, 1, 2, 3, 4, 5, 7 if cone == "elliptic" else 6}
    assert slipping > 0  # contacts in the gap, without rows


@pytest.mark.parametrize("disable", ["equality", "frictionloss", "limit", "contact", "constraint", "refsafe"])
def test_flags_disable_rows(disable):
    mj = mujoco.MjModel.from_xml_string(every_row("pyramidal", 3))
    mj.opt.disableflags |= getattr(mujoco.mjtDisableBit, f"mjDSBL_{disable.upper()}")
    m, ref = put_model(mj), reference(mj, states(mj, 2, steps=2)[0])
    compare(mj, ref, rows(m)(filled(mj, m, ref)))


def test_rows_over_capacity_keep_the_deepest_contacts():
    mj = mujoco.MjModel.from_xml_string(sliding("pyramidal", 3))
    ref = reference(mj, sliding_states(mj, 4)[3])
    full, small = put_model(mj), put_model(mj, njmax=ref.nefc - 6)
    a, b = (jax.jit(lambda d, m=m: make_constraint(m, d))(filled(mj, m, ref)) for m in (full, small))
    assert int(b.nefc) == ref.nefc - 8
    kept = np.asarray(b.contact.efc_address)[: ref.ncon] >= 0
    dist = np.array([c.dist for c in ref.contact])
    assert kept.any() and dist[kept].max() <= dist[~kept].min()
    assert int(b.maxuse_efc) == ref.nefc and int(b.warning[WarningType.CNSTRFULL]) == 1
    assert int(a.warning[WarningType.CNSTRFULL]) == 0
    first = int(np.flatnonzero(kept)[0])
    x, y = int(a.contact.efc_address[first]), int(b.contact.efc_address[first])
    np.testing.assert_array_equal(a.efc_J[x : x + 4], b.efc_J[y : y + 4])


def test_batched_rows_equal_rows_one_by_one():
    mj, m = load(sliding("pyramidal", 3))
    data = [filled(mj, m, reference(mj, s)) for s in states(mj, 6, steps=40)]
    f = jax.jit(lambda d: reference_constraint(m, make_constraint(m, d)))
    batch = jax.jit(jax.vmap(jax.vmap(f)))(jax.tree.map(lambda *x: jnp.stack(x).reshape(2, 3, *x[0].shape), *data))
    for i, d in enumerate(data):
        for name in ("efc_J", "efc_aref", "efc_D", "nefc"):
            assert error(np.asarray(getattr(batch, name))[i // 3, i % 3], getattr(f(d), name)) < 1e-12


@pytest.mark.slow
def test_rows_have_gradients():
    mj, m = load(every_row("elliptic", 6))
    d = filled(mj, m, reference(mj, states(mj, 4, steps=10)[2]))

    def f(x):
        c = d.contact.replace(pos=d.contact.pos + x[0], dist=d.contact.dist + 1e-2 * x[1])
        e = d.replace(qpos=d.qpos + 0.1 * x[1], cdof=d.cdof * (1 + x[2]), qvel=d.qvel * (1 + x[0]), contact=c)
        e = reference_constraint(m.replace(jnt_solref=m.jnt_solref * (1 + 0.1 * x[2])), make_constraint(m, e))
        return jnp.concatenate([jnp.sin(1e-3 * e.efc_aref), jnp.sin(e.efc_J).ravel(), jnp.log1p(e.efc_D)])

    x = jnp.array([0.01, 0.002, 0.03])
    forward, reverse = jax.jit(jax.jacfwd(f))(x), jax.jit(jax.grad(lambda x: jnp.sum(f(x))))(x)
    h, g = 1e-6, jax.jit(f)
    central = np.stack([(g(x.at[i].add(h)) - g(x.at[i].add(-h))) / (2 * h) for i in range(3)], axis=-1)
    assert error(forward, central) < 1e-6
    assert error(reverse, np.asarray(forward).sum(0)) < 1e-10
    assert np.abs(central).max() > 0.5


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
def test_bodies_that_slide_as_one_have_no_rows_in_the_dense_format(jacobian):
    xml = f"""
    <mujoco>
      <option jacobian="{jacobian}"/>
      <worldbody>
        <body name="a"><joint type="slide"/><geom size=".1"/><body name="b" pos=".3 0 0"><geom size=".1"/></body></body>
      </worldbody>
      <equality><connect body1="a" body2="b" anchor=".1 0 0"/><weld body1="a" body2="b"/></equality>
    </mujoco>"""
    mj = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(mj)
    mujoco.mj_forward(mj, data)
    assert put_model(mj).plans.constraint.slot_type.size == data.nefc == (9 if jacobian == "sparse" else 0)


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_contacts_of_bodies_that_move_as_one_have_no_rows(jacobian, cone):
    xml = f"""
    <mujoco>
      <option jacobian="{jacobian}" cone="{cone}"/>
      <worldbody>
        <geom name="still" size=".1"/>
        <body mocap="true" pos=".15 0 0"><geom name="led" size=".1"/></body>
        <body pos="0 0 1">
          <freejoint/><geom name="a" size=".1"/><geom name="b" size=".1" pos=".15 0 0"/>
          <body pos=".15 .15 0"><geom name="c" size=".1"/></body>
          <body pos="0 .15 0"><joint/><geom name="d" size=".1"/></body>
        </body>
      </worldbody>
      <contact>
        <pair geom1="a" geom2="b" condim="4"/><pair geom1="b" geom2="c" condim="1"/><pair geom1="a" geom2="d"/>
        <pair geom1="still" geom2="led"/>
      </contact>
    </mujoco>"""
    mj = mujoco.MjModel.from_xml_string(xml)
    m, ref = put_model(mj), reference(mj, states(mj, 1, steps=0)[0])
    assert sum(c.exclude == 3 for c in ref.contact) >= 2
    compare(mj, ref, rows(m)(filled(mj, m, ref)))
