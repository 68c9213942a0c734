"""Adhesion, moving surfaces, exact diagonals and contact forces against MuJoCo C, with their gradients."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.collision.surface_velocity import surface_velocity
from mjx_like.constraint.contact_force import contact_force, contact_wrench
from mjx_like.constraint.stage import make_constraint, reference_constraint
from mjx_like.interop.convert import put_model
from mjx_like.passive.adhesion import adhesion_force
from tests.constraint.filled import ROWS, dense_jacobian, filled
from tests.constraint.models import sliding, sliding_states
from tests.support.oracle import ROW, error, reference

STICKY = '<geom adhesion="4" gap=".05" surfacevel=".3 .2 .1 .4 .5 .6" '


def sticky(cone, dim, flag=""):
    xml = sliding(cone, dim, 2.0).replace("<geom ", STICKY, 1).replace("<worldbody>", f"<option><flag {flag}/></option>"
                                                                       "<worldbody>")  # fmt: skip
    return mujoco.MjModel.from_xml_string(xml)


def loaded(mj, count=10):
    m = put_model(mj)
    assert not m.unsupported
    refs = [reference(mj, s) for s in sliding_states(mj, count)]
    return m, refs, jax.tree.map(lambda *x: jnp.stack(x), *(filled(mj, m, r) for r in refs))


def rows(m):
    return jax.jit(jax.vmap(lambda d: reference_constraint(m, make_constraint(m, d))))


@pytest.mark.parametrize(
    ("cone", "dim", "flag"),
    [
        ("pyramidal", 4, ""),
        ("elliptic", 6, ""),
        ("pyramidal", 3, 'diagexact="enable"'),
        ("elliptic", 4, 'diagexact="enable"'),
    ],
)
def test_rows(cone, dim, flag):
    mj = sticky(cone, dim, flag)
    m, refs, d = loaded(mj)
    out, apart = rows(m)(d), 0
    for i, ref in enumerate(refs):
        n = ref.nefc
        assert int(out.nefc[i]) == n
        wrong = {name: error(np.asarray(getattr(out, name))[i, :n], getattr(ref, name)) for name in ROWS}
        wrong["efc_J"] = error(np.asarray(out.efc_J)[i, :n], dense_jacobian(mj, ref))
        assert not {name: e for name, e in wrong.items() if not e < ROW}
        np.testing.assert_array_equal(out.contact.dim[i, : ref.ncon], [c.dim for c in ref.contact])
        apart += sum(c.dist >= c.includemargin for c in ref.contact)
    assert apart > 0  # adhesive contacts in the gap: one row each


@pytest.mark.parametrize(("cone", "dim"), [("pyramidal", 6), ("elliptic", 4)])
def test_forces_and_surface_velocity(cone, dim):
    mj = sticky(cone, dim)
    m, refs, d = loaded(mj)
    out = rows(m)(d)
    out = out.replace(efc_force=jnp.stack([jnp.pad(jnp.asarray(r.efc_force), (0, m.njmax - r.nefc)) for r in refs]))
    wrench = jax.jit(jax.vmap(lambda d: contact_wrench(m, d)))(out)
    passive = jax.jit(jax.vmap(lambda d: adhesion_force(m, d)))(d)
    for i, ref in enumerate(refs):
        assert error(passive[i], ref.qfrc_adhesion) < ROW
        for j in range(ref.ncon):
            force = np.zeros(6)
            mujoco.mj_contactForce(mj, ref, j, force)
            assert error(wrench[i, j], force) < ROW
        geom = np.array([c.geom for c in ref.contact], np.int32)
        contact = d.contact.pos[i, : ref.ncon], d.contact.frame[i, : ref.ncon]
        v = surface_velocity(
            m, jnp.asarray(ref.geom_xpos), jnp.asarray(ref.geom_xmat).reshape(-1, 3, 3), jnp.asarray(geom), *contact
        )
        assert error(v, [c.surfacevel for c in ref.contact]) < ROW
    one = jax.tree.map(lambda x: x[0], out)
    assert error(contact_force(m, one, 1), wrench[0, 1]) == 0
    assert np.abs(np.asarray(wrench)[..., 0]).max() > 1


def test_gradients():
    mj = sticky("elliptic", 4, 'diagexact="enable"')
    m, _, d = loaded(mj, 6)
    d = jax.tree.map(lambda x: x[5], d)

    def f(x):
        c = d.contact.replace(adhesion=d.contact.adhesion * (1 + x[0]), surfacevel=d.contact.surfacevel + x[1])
        e = d.replace(contact=c, qLD=d.qLD * (1 + 0.1 * x[2]))
        pull = adhesion_force(m, e)
        e = reference_constraint(m, make_constraint(m, e))
        return jnp.concatenate([jnp.sin(1e-2 * e.efc_aref), jnp.log1p(e.efc_D), pull])

    x, h, g = jnp.array([0.01, 0.02, 0.03]), 1e-6, jax.jit(f)
    forward, reverse = jax.jit(jax.jacfwd(f))(x), jax.jit(jax.grad(lambda x: jnp.sum(f(x))))(x)
    central = np.stack([(g(x.at[i].add(h)) - g(x.at[i].add(-h))) / (2 * h) for i in range(3)], axis=-1)
    assert error(forward, central) < 1e-6
    assert error(reverse, np.asarray(forward).sum(0)) < 1e-10
    assert (np.abs(central).max(axis=0) > 1e-3).all()
