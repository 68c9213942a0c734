"""Models of many trees: matrices stored as blocks, and the solver tree by tree or with trees coupled."""

import functools

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.solver import small_islands, tree_systems
from mjx_like.solver.by_tree import by_tree
from mjx_like.tree.blocks import full_j
from tests.smooth.test_many_trees import scene
from tests.support.oracle import ACCELERATION, ROW, TIGHT, error, load, reference, states

STACK = "".join(
    f'<body pos="{i} 0 {0.0599 + 0.1198 * k}"><freejoint/><geom type="box" size="0.1 0.08 0.06"/></body>'
    for i in range(4)
    for k in range(3)
)
TOWER = "".join(
    f'<body pos="{i} 0 {0.0599 + 0.1198 * k}"><freejoint/><geom type="box" size="0.1 0.08 0.06"/></body>'
    for i, height in enumerate((11, 2, 1))
    for k in range(height)
)
TOWERS = f'<mujoco><worldbody><geom type="plane" size="0 0 1"/>{TOWER}</worldbody></mujoco>'
STACKS = f'<mujoco><worldbody><geom type="plane" size="0 0 1"/>{STACK}</worldbody></mujoco>'
TIED = scene(
    '<equality><connect body1="tied" body2="tied2" anchor="0 0 0.1"/><joint joint1="j1" joint2="j2"/></equality>'
    '<tendon><fixed limited="true" range="-.1 .1" frictionloss=".2"><joint joint="j1" coef="1"/>'
    '<joint joint="j2" coef="-2"/></fixed></tendon>',
    'cone="elliptic"',
).replace(
    "</worldbody>",
    '<body name="tied" pos="-1 0 1"><freejoint/><geom size=".1"/></body>'
    '<body name="tied2" pos="-1 0 1.3"><joint name="j1" axis="1 0 0" limited="true" range="-5 5" frictionloss=".1"/>'
    '<geom size=".1" pos="0 0 .2"/><body pos="0 0 .3"><joint type="ball" limited="true" range="0 0.1"/>'
    '<geom size=".1" pos="0 0 .2"/></body></body>'
    '<body pos="-2 0 1"><joint name="j2" axis="0 1 0"/><geom size=".1" pos="0 .1 .2"/></body></worldbody>',
)


def worlds(m: mjx.Model, sample: list[dict]) -> mjx.Data:
    d = mjx.make_data(m)
    given = {k: jnp.asarray(np.stack([s[k] for s in sample])) for k in sample[0] if hasattr(d, k)}
    return jax.vmap(lambda own: d.replace(**own))(given)


def seen(m: mjx.Model, d: mjx.Data) -> dict:
    d = mjx.forward(m, d)
    names = ("qacc_smooth", "qacc", "qfrc_constraint", "efc_aref", "efc_force", "efc_state", "nefc")
    return {name: getattr(d, name) for name in names} | {"J": full_j(m, d), "M": mjx.full_m(m, d)}


@functools.cache
def checked(name: str):
    """Return MuJoCo's model, ours, states and what `seen` sees of them."""
    mj, m = load({"apart": scene(), "stacks": STACKS, "towers": TOWERS, "tied": TIED}[name])
    sample = states(mj, 6, steps=60)  # more than the coupled worlds that are solved at a time
    if name in ("stacks", "towers"):  # at rest on each other
        for k, s in enumerate(sample[1:]):
            s["qpos"], s["qvel"] = mj.qpos0 + 0, 0.1 * (k + 1) * s["qvel"]
            if name == "towers" and k:  # of eleven, k fly above the rest: islands of all kinds
                s["qpos"][9 + 7 * (10 - k) : 77 : 7] += 1
    return mj, m, sample, jax.jit(jax.vmap(functools.partial(seen, m)))(worlds(m, sample))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) for name in ("apart", "towers", "tied")] + ["stacks"]
)
def test_rows_and_accelerations_equal_mujoco(name):
    mj, m, sample, out = checked(name)
    assert m.plans.tree.trees is not None and by_tree(m) == (name != "tied")
    coupled = 0
    for i, state in enumerate(sample):
        d = reference(mj, state)
        J = np.zeros((d.nefc, m.nv))
        if d.nefc:
            mujoco.mju_sparse2dense(J, d.efc_J, d.efc_J_rownnz, d.efc_J_rowadr, d.efc_J_colind)
        assert out["nefc"][i] == d.nefc
        used = {k: out[k][i, : d.nefc] for k in ("J", "efc_aref", "efc_force", "efc_state")}
        assert error(used["J"], J) < ROW and error(used["efc_aref"], d.efc_aref) < ROW
        assert error(out["qacc_smooth"][i], d.qacc_smooth) < TIGHT
        for key, wanted in (("qacc", d.qacc), ("qfrc_constraint", d.qfrc_constraint)):
            assert error(out[key][i], wanted) < ACCELERATION, key
        assert error(used["efc_force"], d.efc_force) < ACCELERATION
        coupled += len({(x >= 0).sum() for x in m.body_treeid[m.geom_bodyid[d.contact.geom]]} & {2}) > 0
    assert coupled or name not in ("stacks", "towers")


def test_data_goes_to_mujoco_and_back():
    mj, m = load(STACKS)
    d = mujoco.MjData(mj)
    mujoco.mj_step(mj, d, 3)
    mujoco.mj_forward(mj, d)
    ours = mjx.put_data(mj, d)
    assert d.nefc and ours.efc_J.shape == (m.njmax, 12) and ours.M.shape == (m.nv, 6)
    J = np.zeros((d.nefc, m.nv))
    mujoco.mju_sparse2dense(J, d.efc_J, d.efc_J_rownnz, d.efc_J_rowadr, d.efc_J_colind)
    assert error(full_j(m, ours)[: d.nefc], J) < TIGHT
    back = mjx.get_data(mj, ours)
    assert error(back.M, d.M) < TIGHT and error(back.efc_J, d.efc_J) < TIGHT and back.nefc == d.nefc


@pytest.mark.slow
def test_blocks_and_whole_matrices_agree():
    """With jacobian="dense" the same model stores whole matrices: steps are the same."""
    xml = scene()
    dense = mjx.Model.from_xml_string(scene(option='jacobian="dense"'))
    m = mjx.Model.from_xml_string(xml)
    assert dense.plans.tree.trees is None and m.plans.tree.trees is not None
    assert mjx.make_data(m).M.shape == (m.nv, 6) and mjx.make_data(dense).M.shape == (m.nv, m.nv)
    qvel = 0.1 * jnp.asarray(np.random.default_rng(0).normal(size=m.nv))

    def after(m, qvel):
        d = mjx.make_data(m)
        d = d.replace(qvel=qvel, qpos=d.qpos.at[2::7].add(-0.06))
        return mjx.step(m, mjx.step(m, d)).qvel

    ours, whole = (jax.jit(functools.partial(after, x))(qvel) for x in (m, dense))
    assert error(ours, whole) < ACCELERATION


@pytest.mark.slow
@pytest.mark.parametrize(("name", "dense"), [("apart", 320), ("stacks", 320), ("stacks", 0)])
def test_gradients_are_those_of_whole_matrices(monkeypatch, name, dense):
    monkeypatch.setattr(tree_systems, "_DENSE", dense)  # unknowns of linear systems that are solved at once
    xml = {"apart": scene(), "stacks": STACKS}[name]
    m = mjx.Model.from_xml_string(xml)
    whole = mjx.Model.from_xml_string(xml.replace("<mujoco>", '<mujoco><option jacobian="dense"/>', 1)
                                      .replace("<option />", ""))  # fmt: skip
    assert whole.plans.tree.trees is None
    rng = np.random.default_rng(0)
    weight, qvel = jnp.asarray(rng.normal(size=m.nv)), 0.1 * jnp.asarray(rng.normal(size=m.nv))

    def total(m, qvel, mass):
        d = mjx.make_data(m)
        return jnp.sum(weight * mjx.step(m.replace(body_mass=mass), d.replace(qvel=qvel)).qvel)

    for mode in (jax.grad, jax.jacfwd):
        ours, dense = (jax.jit(mode(functools.partial(total, x), (0, 1)))(qvel, x.body_mass) for x in (m, whole))
        assert max(error(a, b) for a, b in zip(ours, dense, strict=True)) < ACCELERATION, mode.__name__


def test_islands_are_the_trees_that_rows_tie_together():
    touched = -np.ones((3, 9, 2), int)
    touched[0, :4] = [[5, 4], [1, 2], [4, 3], [6, -1]]  # a chain from its end
    touched[1, :6] = [[0, 6], [6, 5], [5, 4], [4, 3], [3, 2], [2, 1]]
    own = small_islands.members(jnp.asarray(touched), 7)
    np.testing.assert_array_equal(own.island, [[0, 1, 1, 3, 3, 3, 6], [0] * 7, range(7)])
    np.testing.assert_array_equal(own.size(), [[1, 2, 0, 3, 0, 0, 1], [7] + [0] * 6, [1] * 7])
    np.testing.assert_array_equal(own.tree, [range(7)] * 3)


@pytest.mark.slow
def test_islands_of_all_kinds_are_solved_by_their_own_method(monkeypatch):
    """Every island alone, a few trees, more trees, and too many: each leaves the others as they are."""
    m = mjx.Model.from_xml_string(TOWERS)
    assert small_islands.sizes(6, 14, 6) == ((5, 64), (10, 256)) and small_islands.sizes(1, 14, 6) == ((10, 256),)
    _, _, sample, out = checked("towers")
    monkeypatch.setattr(small_islands, "sizes", lambda *_: ())
    for dense in (tree_systems._DENSE, 0):  # systems at once, then by conjugate gradients
        monkeypatch.setattr(tree_systems, "_DENSE", dense)
        whole = jax.jit(jax.vmap(lambda d: seen(m, d)))(worlds(m, sample))
        for key in ("qacc", "efc_force", "qfrc_constraint"):
            assert error(out[key], whole[key]) < ACCELERATION
