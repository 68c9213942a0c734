"""Derived constants in JAX equal those of mj_setConst, and are differentiable and vmappable."""

import functools

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.compiler.load import from_xml_string
from mjx_like.interop.convert import put_model
from mjx_like.set_const import set_const
from tests.support.oracle import error

XML = """
<mujoco><option><flag contact="disable"/></option>
<asset><mesh name="tetra" vertex="0 0 0 .3 0 0 0 .4 0 0 0 .5"/>
<hfield name="hill" nrow="3" ncol="4" size="1 2 .3 .1"/></asset>
<worldbody>
  <geom type="hfield" hfield="hill" pos="0 0 -2"/><geom type="plane" size="2 3 .1" margin=".01"/>
  <camera name="far" pos="1 2 3"/><light pos="0 0 3" dir="1 0 -1"/>
  <body name="slider" pos="1 0 1"><joint type="slide" axis="1 0 0" name="rail" armature=".1"/><geom size=".1"/></body>
  <body name="free" pos="0 1 1"><freejoint/><geom type="box" size=".1 .2 .3" fluidshape="ellipsoid" margin=".02"/>
    <site name="a" pos=".1 0 .1"/><camera name="near" pos="0 .1 0" mode="trackcom"/>
    <light mode="targetbody" target="arm"/>
    <body name="ball" pos="0 0 .4"><joint type="ball" pos="0 0 -.1"/><geom type="capsule" size=".05 .2" gap=".03"/>
      <geom type="mesh" mesh="tetra" pos=".1 0 0"/></body></body>
  <body name="arm" pos="0 -1 1" euler="10 20 30"><joint name="hinge" axis="0 1 0" pos="0 0 .2" armature=".05"/>
    <geom name="drum" type="cylinder" size=".2 .2"/><geom type="ellipsoid" size=".1 .2 .15" pos=".3 0 0"/>
    <site name="b" pos=".3 0 0"/>
    <body name="hand" pos=".4 0 0"><joint name="wrist" axis="1 0 1"/><geom size=".08" pos=".1 0 0"/>
      <site name="c" pos="-.7 -.4 .05"/></body></body>
</worldbody>
<equality><connect body1="arm" body2="free" anchor=".1 .2 .3"/><weld body1="free" body2="slider"/>
  <weld body1="arm" body2="slider" relpose="1 0 0 1 .1 0 0"/><connect site1="a" site2="b"/></equality>
<tendon><fixed name="sum" armature=".2"><joint joint="hinge" coef="2"/><joint joint="wrist" coef="-1"/></fixed>
  <spatial name="rope"><site site="a"/><geom geom="drum"/><site site="c"/></spatial></tendon>
<actuator><motor joint="hinge" gear="3"/><motor tendon="rope"/><motor site="c" gear="1 2 3 0 0 1"/>
  <position joint="wrist" kp="10" dampratio="1"/></actuator>
</mujoco>
"""
DERIVED = (
    "body_subtreemass", "body_margin", "body_invweight0", "dof_M0", "dof_invweight0", "dof_length", "geom_size",
    "geom_aabb", "geom_rbound", "geom_fluid", "cam_pos0", "cam_poscom0", "cam_mat0", "light_pos0", "light_poscom0",
    "light_dir0", "tendon_length0", "tendon_invweight0", "actuator_length0", "actuator_acc0", "flexedge_length0",
    "flexedge_invweight0", "eq_data",
)  # fmt: skip
SCALED = (
    "body_mass", "body_inertia", "dof_armature", "geom_size", "geom_margin", "geom_gap", "hfield_size", "actuator_gear",
    "tendon_armature", "qpos0",
)  # fmt: skip
SHIFTED = ("geom_pos", "site_pos", "cam_pos", "light_pos", "light_dir", "body_pos", "body_ipos", "jnt_pos", "eq_data")
TURNED = ("body_quat", "geom_quat", "site_quat", "cam_quat", "body_iquat")


def _changed(mj: mujoco.MjModel, seed: int) -> dict[str, np.ndarray]:
    """Return other values of all inputs, fit for a model whose simple bodies stay simple."""
    rng, out = np.random.default_rng(seed), {}
    for name in SCALED:
        value = getattr(mj, name)
        out[name] = value * (1 + 0.2 * rng.uniform(-1, 1, value.shape))
    for name in SHIFTED + TURNED:
        value = getattr(mj, name)
        out[name] = value + 0.05 * rng.normal(size=value.shape)
    for name in TURNED:
        out[name] /= np.linalg.norm(out[name], axis=1, keepdims=True)
    for name in ("geom_margin", "geom_gap"):
        out[name] += 0.01 * rng.uniform(size=mj.ngeom)  # no two alike: the margin of a body is their maximum
    simple, free = mj.body_simple > 0, mj.jnt_type == mujoco.mjtJoint.mjJNT_FREE
    out["body_ipos"][simple], out["body_iquat"][simple] = mj.body_ipos[simple], mj.body_iquat[simple]
    fixed = simple[mj.jnt_bodyid] | free
    out["jnt_pos"][fixed] = mj.jnt_pos[fixed]
    out["body_pos"][0], out["body_quat"][0] = mj.body_pos[0], mj.body_quat[0]
    out["eq_data"][:, 11] = mj.eq_data[:, 11]
    of_sites = mj.eq_objtype != mujoco.mjtObj.mjOBJ_BODY
    out["eq_data"][of_sites] = mj.eq_data[of_sites]
    return out


def _reference(mj: mujoco.MjModel, changes) -> mujoco.MjModel:
    for name, value in changes.items():
        getattr(mj, name)[...] = value
    mujoco.mj_setConst(mj, mujoco.MjData(mj))
    return mj


@functools.cache
def _models():
    mj = mujoco.MjModel.from_xml_string(XML)
    return mj, put_model(mj), jax.jit(jax.vmap(lambda m, c: set_const(m.replace(**c)), in_axes=(None, 0)))


def test_derived_constants_of_changed_models():
    mj, m, both = _models()
    changes = [_changed(mj, seed) for seed in range(2)]
    out = both(m, {name: jnp.stack([c[name] for c in changes]) for name in changes[0]})
    for i, change in enumerate(changes):
        reference = _reference(mujoco.MjModel.from_xml_string(XML), change)
        errors = {name: error(getattr(out, name)[i], getattr(reference, name)) for name in DERIVED}
        assert max(errors.values()) < 1e-9, errors
        moved = [n for n in DERIVED if error(getattr(mj, n), getattr(reference, n)) > 1e-4]
        assert set(DERIVED) - set(moved) <= {
            "geom_aabb",
            "flexedge_length0",
            "flexedge_invweight0",
        }  # a plane is 1e10 wide
    kept = {n: error(getattr(m.stat, n), getattr(mj.stat, n)) for n in ("meaninertia", "extent", "meansize")}
    assert max(kept.values()) == 0


def test_constants_of_the_compiler_stay():
    mj, loaded, both = _models()
    m = from_xml_string(XML)
    out = both(loaded, {name: jnp.stack([getattr(m, name)] * 2) for name in _changed(mj, 0)})
    errors = {name: error(getattr(out, name)[0], getattr(m, name)) for name in DERIVED}
    assert max(errors.values()) < 1e-12, errors


@pytest.mark.slow
def test_derivative_of_every_input():
    mj, m, _ = _models()
    names = sorted(_changed(mj, 0))
    rng = np.random.default_rng(0)
    weight = {name: rng.normal(size=getattr(m, name).shape) for name in DERIVED}
    planes = m.geom_type == mujoco.mjtGeom.mjGEOM_PLANE
    weight["geom_aabb"][planes] = 0  # constant, and so wide that sums round the rest

    def total(changes):
        new = set_const(m.replace(**changes))
        return jnp.stack([jnp.sum(weight[name] * getattr(new, name)) for name in DERIVED])

    point = {name: jnp.asarray(value) for name, value in _changed(mj, 1).items()}
    ways = {name: jnp.asarray(rng.normal(size=point[name].shape)) for name in names}
    ways["eq_data"] = ways["eq_data"].at[:, 11].set(0)
    only = [{n: ways[n] * (n == name) for n in names} for name in names]
    stacked = jax.tree.map(lambda *x: jnp.stack(x), *only)
    f = jax.jit(jax.vmap(total))

    def moved(eps):
        return f(jax.tree.map(lambda x, v: x + eps * v, point, stacked))

    exact = jax.jit(jax.vmap(lambda v: jax.jvp(total, (point,), (v,))[1]))(stacked)
    numeric = (moved(1e-6) - moved(-1e-6)) / 2e-6
    assert error(exact, numeric) < 1e-6
    assert (jnp.abs(exact).max(axis=1) > 1e-3).all(), dict(zip(names, jnp.abs(exact).max(axis=1), strict=True))
    pulled = jax.jit(jax.grad(lambda c: jnp.sum(total(c))))(point)
    reverse = jnp.stack([sum(jnp.sum(pulled[n] * v[n]) for n in names) for v in only])
    assert error(reverse, exact.sum(axis=1)) < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("name", ("quadruped", "fish", "humanoid_CMU"))
def test_real_models(name):
    import pathlib

    import dm_control

    path = str(pathlib.Path(dm_control.__file__).parent / f"suite/{name}.xml")
    mj = mujoco.MjModel.from_xml_path(path)
    m, changes = put_model(mj), _changed(mj, 0)
    out = jax.jit(lambda c: set_const(m.replace(**c)))(changes)
    reference = _reference(mj, changes)
    errors = {n: error(getattr(out, n), getattr(reference, n)) for n in DERIVED}
    assert max(errors.values()) < 1e-9, errors
