"""Tangents by the slopes of the pairs that touch are those of all pairs, which JAX differentiates by every input."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.collision.driver import collision
from mjx_like.interop.convert import put_model
from mjx_like.state.initial import make_data
from tests.collision import scene
from tests.collision.test_stage import _moved
from tests.models import HERE

POSES = 8
SCENES = {  # of geoms, with the tilt of the second in which several points touch
    "points": ("ellipsoid", "cylinder", None),
    "faces": ("cylinder", "box", 0.02),
}
FIELDS = ("ellipsoid", "mesh")


def touching(name):
    """Return a model, and positions and rotations of its geoms in poses in which they touch."""
    if name in FIELDS:
        mj = mujoco.MjModel.from_xml_path(str(HERE / "features" / f"pair_hfield_{name}.xml"))
        qpos = [mj.qpos0]
    else:
        first, second, tilt = SCENES[name]
        mj, _ = scene.model(first, second, margin=0.01)
        qpos = scene.poses(mj, 60, reach=0.2, tilt=tilt)
    found = [d for d in scene.oracle(mj, qpos) if d.ncon][:POSES]
    assert len(found) == (1 if name in FIELDS else POSES)
    pos, mat = np.array([d.geom_xpos for d in found]), np.array([d.geom_xmat for d in found])
    return put_model(mj), jnp.asarray(pos), jnp.asarray(mat.reshape(*pos.shape, 3))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["points", "faces", *FIELDS])
def test_first_and_second_tangents_are_those_by_every_input(name):
    m, pos, mat = touching(name)
    data = make_data(m)
    velocity, spin = np.random.default_rng(1).normal(size=(2, m.ngeom, 3))

    def contacts(pos, mat, size, t):
        pos, mat = _moved(pos, mat, velocity, spin, t)
        c = collision(m.replace(geom_size=size), data.replace(geom_xpos=pos, geom_xmat=mat)).contact
        return c.dist, c.pos, c.frame[:, 0]

    def by_poses(pos, mat, t):
        return jax.jvp(lambda t: contacts(pos, mat, m.geom_size, t), (t,), (1.0,))

    def by_all(pos, mat, t):
        return jax.jvp(lambda size, t: contacts(pos, mat, size, t), (m.geom_size, t), (0 * m.geom_size, 1.0))

    def twice(rates):
        return jax.jit(jax.vmap(lambda p, r: jax.jvp(lambda t: rates(p, r, t), (0.0,), (1.0,))))(pos, mat)

    (values, first), (again, second) = twice(by_poses)
    (_, other_first), (_, other_second) = twice(by_all)
    for x, y, z in zip(first, again, other_first, strict=True):
        np.testing.assert_allclose(x, z, atol=1e-10 * (1 + np.abs(z).max()))
        np.testing.assert_allclose(y, x, atol=1e-10 * (1 + np.abs(x).max()))
    for x, y in zip(second, other_second, strict=True):
        np.testing.assert_allclose(x, y, atol=1e-8 * (1 + np.abs(y).max()))
    assert all(np.abs(x).max() > 0.1 for x in first) and np.isfinite(values[0]).all()


@pytest.mark.slow
def test_reverse_mode_equals_forward_mode():
    m, pos, mat = touching("faces")
    data = make_data(m)

    def total(pos, mat):
        c = collision(m, data.replace(geom_xpos=pos, geom_xmat=mat)).contact
        return jnp.sum(jnp.cos(c.pos)) + jnp.sum(c.dist) + jnp.sum(jnp.sin(c.frame[:, 0]))

    change = np.random.default_rng(2).normal(size=pos[0].shape)
    gradient = jax.jit(jax.grad(total))(pos[0], mat[0])
    forward = jax.jvp(lambda p: total(p, mat[0]), (pos[0],), (jnp.asarray(change),))[1]
    np.testing.assert_allclose(jnp.sum(gradient * change), forward, rtol=1e-9)
    assert abs(forward) > 0.1
