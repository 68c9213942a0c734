"""First and second derivatives of the contacts of convex geoms against differences of the exact optimum."""

import functools

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.collision.driver import collision
from mjx_like.interop.convert import put_model
from mjx_like.state.initial import make_data
from tests.collision import optimum, scene
from tests.collision.test_stage import _moved

TENT = "0 0 .12  .1 0 -.06  -.05 .09 -.06  -.05 -.09 -.06  -.04 0 .1"
KINDS = ("sphere", "capsule", "ellipsoid", "ellipsoid", "cylinder", "cylinder", "box", "mesh", "mesh")
PAIRS = [(0, 2), (0, 7), (1, 2), (1, 4), (1, 7), (2, 3), (2, 4), (2, 6), (2, 7), (4, 5), (4, 6), (4, 7), (6, 7), (7, 8)]
POSES = 6  # of each pair
_APART = 5.0


@functools.cache
def _models():
    shapes = ('type="mesh" mesh="tent"' if k == "mesh" else f'type="{k}" size="{scene.SIZES[k]}"' for k in KINDS)
    bodies = "".join(f'<body><freejoint/><geom {g} mass="1"/></body>' for g in shapes)
    pairs = "".join(f'<pair geom1="g{a}" geom2="g{b}" margin="{0.02 * (k % 2)}"/>' for k, (a, b) in enumerate(PAIRS))
    for k in range(len(KINDS)):
        bodies = bodies.replace("<geom type", f'<geom name="g{k}" type', 1)
    mj = mujoco.MjModel.from_xml_string(f"""
    <mujoco>
      <option ccd_tolerance="1e-14" ccd_iterations="60"><flag multiccd="disable"/></option>
      <asset><mesh name="tent" vertex="{TENT}"/></asset>
      <default><geom contype="0" conaffinity="0"/></default>
      <worldbody>{bodies}</worldbody><contact>{pairs}</contact>
    </mujoco>""")
    return mj, put_model(mj, nconmax=4)


def _poses():
    """Return (pair, positions, rotations) of poses in which the oracle finds one contact of that pair."""
    mj, _ = _models()
    rng, out, data = np.random.default_rng(3), [], mujoco.MjData(mj)
    for pair in PAIRS:
        mine = []
        while len(mine) < POSES:
            for body in range(len(KINDS)):
                quat = rng.normal(size=4)
                data.qpos[7 * body : 7 * body + 3] = [_APART * (body + 1), 0, 0]
                data.qpos[7 * body + 3 : 7 * body + 7] = quat / np.linalg.norm(quat)
            data.qpos[7 * pair[0] : 7 * pair[0] + 3] = 0
            data.qpos[7 * pair[1] : 7 * pair[1] + 3] = rng.uniform(-0.15, 0.15, size=3)
            mujoco.mj_kinematics(mj, data)
            mujoco.mj_collision(mj, data)
            if data.ncon == 1 and -0.04 < data.contact[0].dist < -0.002:
                mine.append((pair, data.geom_xpos.copy(), data.geom_xmat.reshape(-1, 3, 3).copy()))
        out += mine
    return out


def _changed(leaves, xpos, xmat, t):
    """Return poses, sizes and vertices moved along a fixed random line."""
    rng = np.random.default_rng(1)
    velocity, spin = rng.normal(size=(2, len(KINDS), 3))
    grow, bend = rng.normal(size=leaves[0].shape), rng.normal(size=leaves[1].shape)
    pos, mat = _moved(xpos, xmat, velocity, spin, t)
    return pos, mat, leaves[0] * (1 + 0.1 * t * grow), leaves[1] + 0.1 * t * bend


@functools.cache
def _compiled():
    _, m = _models()
    data = make_data(m)

    def contact(xpos, xmat, t):
        pos, mat, size, vert = _changed((m.geom_size, m.mesh_vert), xpos, xmat, t)
        out = collision(m.replace(geom_size=size, mesh_vert=vert), data.replace(geom_xpos=pos, geom_xmat=mat))
        c = out.contact
        return c.dist[0], c.pos[0], c.frame[0, 0]

    def rate(p, r, t):
        return jax.jvp(lambda t: contact(p, r, t), (t,), (1.0,))

    def rates(p, r):
        (value, first), (_, second) = jax.jvp(lambda t: rate(p, r, t), (0.0,), (1.0,))
        return value, first, second

    return jax.jit(jax.vmap(rates))


@functools.cache
def _found():
    poses = _poses()
    found = _compiled()(jnp.array([p[1] for p in poses]), jnp.array([p[2] for p in poses]))
    return poses, *([np.asarray(x) for x in part] for part in found)


def _exact(pair, xpos, xmat, normal):
    """Return the optimum, its derivative and its second one as (dist, pos, normal)."""
    mj, m = _models()
    leaves = np.asarray(m.geom_size), np.asarray(m.mesh_vert)

    def geoms(t):
        pos, mat, size, vert = (np.asarray(x) for x in _changed(leaves, xpos, xmat, t))
        return [optimum.Geom(KINDS[g], pos[g], mat[g], size[g], vert) for g in pair]

    ids = tuple(optimum.touching(g, s * normal) for g, s in zip(geoms(0.0), (1, -1), strict=True))
    now = optimum.optimum(*geoms(0.0), normal, ids)
    assert optimum.certified(*geoms(0.0), now), (pair, now)
    h = 1e-4
    three = [optimum.optimum(*geoms(t), now.normal, ids)[:3] for t in (h, 0.0, -h)]
    lines = [[np.asarray(x) for x in part] for part in zip(*three, strict=True)]
    return now, [(x - z) / (2 * h) for x, _, z in lines], [(x - 2 * y + z) / h**2 for x, y, z in lines]


@pytest.mark.slow
def test_single_contacts_and_two_derivatives_equal_the_exact_optimum():
    """Sizes, vertices and poses all move. The search leaves normals of curved pairs off by up to 1e-5."""
    poses, value, tangent, second = _found()
    off, bent, kinds = [], [], set()
    for k, (pair, xpos, xmat) in enumerate(poses):
        now, rate, curve = _exact(pair, xpos, xmat, value[2][k])
        kinds.add((pair, *now.touching))
        values = [np.abs(v[k] - x).max() for v, x in zip(value, now[:3], strict=True)]
        assert values[0] < 1e-10 and values[1] < 1e-6 and values[2] < 1e-5, (pair, values)
        off.append(max(np.abs(v[k] - x).max() / (1 + np.abs(x).max()) for v, x in zip(tangent, rate, strict=True)))
        assert off[-1] < 3e-5, (pair, now.touching, off[-1])
        bent.append(max(np.abs(v[k] - x).max() / (1 + np.abs(x).max()) for v, x in zip(second, curve, strict=True)))
        assert bent[-1] < 3e-5, (pair, now.touching, bent[-1])
    assert np.median(off) < 1e-6 and np.median(bent) < 1e-6
    touching = {x[1:] for x in kinds}
    assert {(1, 1), (1, 2), (2, 1), (2, 2), (1, 3), (1, 4)} <= touching and len(kinds) > 24
