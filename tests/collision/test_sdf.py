"""Geoms against signed distance fields of plugins, in both engines."""

import functools

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.collision.distance import distances
from mjx_like.collision.driver import collision
from mjx_like.geometry.signed_distance import field
from mjx_like.math import quaternion
from mjx_like.state.initial import make_data
from mjx_like.types.enums import GeomType
from tests.collision import scene

SIZES = {
    "sphere": ".15", "capsule": ".1 .2", "ellipsoid": ".15 .2 .12", "cylinder": ".12 .15", "box": ".1 .15 .2",
}  # fmt: skip
PARAMETERS = {
    "torus": {"radius1": 0.3, "radius2": 0.12},
    "bowl": {"height": 0.3, "radius": 0.5, "thickness": 0.05},
    "gear": {"alpha": 0.2, "diameter": 1.2, "teeth": 12, "thickness": 0.3},
    "bolt": {},
    "nut": {},
}
COUNT = 24


def _xml(fixed: str, others: str) -> str:
    """Return a scene of a fixed shape, a floor, and others that touch only these."""
    keys = "".join(f'<config key="{k}" value="{x}"/>' for k, x in PARAMETERS[fixed].items())
    return f"""
    <mujoco>
      <extension>
        <plugin plugin="mujoco.sdf.{fixed}"><instance name="i">{keys}</instance></plugin>
      </extension>
      <option sdf_initpoints="20" sdf_iterations="8"/>
      <asset><mesh name="m"><plugin instance="i"/></mesh></asset>
      <default><geom contype="0" mass="1"/></default>
      <worldbody>
        <body pos=".1 .2 .3" euler="10 20 30">
          <geom type="sdf" mesh="m" contype="1" conaffinity="0"><plugin instance="i"/></geom>
        </body>
        {others}
      </worldbody>
    </mujoco>"""


FREE = '<body><freejoint/><geom type="{}" {}>{}</geom></body>'
BALL, *_, BOX = SHAPES = [FREE.format(k, f'size="{s}"', "") for k, s in SIZES.items()]
ROUND = "".join(SHAPES[:-1])
TWIN = FREE.format("sdf", 'mesh="m"', '<plugin instance="i"/>')
FLOOR = '<geom type="plane" size="1 1 1" pos="0 0 -.2" euler="10 0 0" contype="1" conaffinity="0"/>'


@functools.cache
def _scene(fixed: str, others: str, reach: float):
    xml = _xml(fixed, others)
    mj = mujoco.MjModel.from_xml_string(xml)
    qpos = scene.poses(mj, COUNT, seed=1, reach=reach)
    qpos.reshape(COUNT, -1, 7)[..., :3] += [0.1, 0.2, 0.3]
    return mj, mjx.Model.from_xml_string(xml, nconmax=120), scene.oracle(mj, qpos)


def _worst(m, reference, skip: int = 0) -> tuple[int, float]:
    """Return how many contacts there are, and the largest difference; the first `skip` of each pose left out."""
    ours = jax.tree.map(np.asarray, scene.ours(m, reference, scene.optimised))
    count, worst = 0, 0.0
    for k, theirs in enumerate(reference):
        assert ours.ncon[k] == theirs.ncon, k
        for j in range(skip, theirs.ncon):
            c = theirs.contact[j]
            assert tuple(ours.contact.geom[k, j]) == tuple(c.geom)
            count += 1
            for name in ("dist", "pos", "frame", "includemargin"):
                worst = max(worst, np.abs(np.ravel(getattr(ours.contact, name)[k, j]) - getattr(c, name)).max())
    return count, worst


@pytest.mark.slow
@pytest.mark.parametrize(
    "fixed, others, skip, limit",
    [
        ("torus", ROUND + TWIN + FLOOR, 0, 1e-8),
        # where a search starts at a corner of a box, or in its middle, rounding decides the way
        ("torus", BOX, 2, 1e-9),
        # the gradients of the other shapes are differences in MuJoCo
        ("bowl", BALL, 0, 2e-3),
        ("gear", BALL, 0, 1e-4),
        ("bolt", BALL + TWIN, 0, 1e-6),
        ("nut", BALL, 0, 1e-6),
    ],
)
def test_contacts_equal_oracle(fixed, others, skip, limit):
    mj, m, reference = _scene(fixed, others, 0.5)
    count, worst = _worst(m, reference, skip)
    assert count > 200 and worst < limit, (count, worst)


@pytest.mark.slow
def test_points_follow_both_geoms():
    """They keep their place where both geoms move as one, by size change as it should, and go half the way of one."""
    mj, m, reference = _scene("torus", BALL, 0.5)
    assert _worst(m, reference)[1] < 1e-8
    data = next(d for d in reference if d.ncon > 10)
    d, xpos, xmat = make_data(m), jnp.array(data.geom_xpos), jnp.array(data.geom_xmat.reshape(-1, 3, 3))
    deepest = int(np.argmin(data.contact.dist))
    ball = jnp.arange(2)[:, None] == 1
    turn, shift = jnp.array([0.3, -0.5, 0.2]), jnp.array([0.1, 0.4, -0.2])

    def found(whole, alone, size, param):
        rotation = jnp.eye(3) + whole * jnp.cross(jnp.eye(3), turn)
        model = m.replace(geom_size=m.geom_size + size * ball, sdf_param=m.sdf_param + param)
        pos = (xpos + alone * jnp.where(ball, shift, 0)) @ rotation.T + whole * shift
        c = collision(model, d.replace(geom_xpos=pos, geom_xmat=rotation @ xmat)).contact
        return c.dist[deepest], c.pos[deepest], c.frame[deepest, 0]

    now, slope = jax.jit(lambda: (found(0.0, 0.0, 0.0, 0.0), jax.jacfwd(found, (0, 1, 2, 3))(0.0, 0.0, 0.0, 0.0)))()
    (_, pos, normal), (ddist, dpos, dnormal) = now, slope
    assert abs(ddist[0]) < 1e-12 and np.abs(dnormal[0] - jnp.cross(turn, normal)).max() < 1e-12
    assert np.abs(dpos[0] - shift - jnp.cross(turn, pos)).max() < 1e-12
    # the ball comes first; the search ends near the deepest place, where both normals oppose each other
    assert abs(ddist[1] + 0.5 * normal @ shift) < 1e-2 and abs(ddist[2] + 0.5) < 1e-6
    assert all(np.isfinite(x).all() for x in jax.tree.leaves(slope))


@pytest.mark.slow
def test_distances_equal_oracle_and_differences():
    """Of what overlaps the field: the deepest point; all else but a plane is out of reach."""
    mj, m, reference = _scene("torus", ROUND + FLOOR, 0.5)
    field = int(np.flatnonzero(mj.geom_type == mujoco.mjtGeom.mjGEOM_SDF)[0])
    pair = np.array([(g, field) for g in range(mj.ngeom) if g != field])
    move = jnp.asarray(np.random.default_rng(2).normal(size=(mj.ngeom, 3)))
    d = make_data(m)

    def found(s, xpos, xmat):
        return distances(m, d.replace(geom_xpos=xpos + s * move, geom_xmat=xmat), pair, jnp.full(len(pair), 1.0))

    both = jax.jit(jax.vmap(lambda *x: jax.jvp(lambda s: found(s, *x), (0.0,), (1.0,))))
    xpos = jnp.array([r.geom_xpos for r in reference])
    (dist, normal, middle), slope = both(xpos, jnp.array([r.geom_xmat.reshape(-1, 3, 3) for r in reference]))
    assert all(np.isfinite(x).all() for x in jax.tree.leaves(slope))
    near = deep = 0
    for k, data in enumerate(reference):
        for i, ids in enumerate(pair):
            fromto = np.zeros(6)
            expected = mujoco.mj_geomDistance(mj, data, *ids, 1.0, fromto)
            assert (dist[k, i] < 1) == (expected < 1), (k, i)
            if expected < 1:
                ours = np.concatenate([middle[k, i] - s * 0.5 * dist[k, i] * normal[k, i] for s in (1, -1)])
                assert abs(dist[k, i] - expected) < 1e-8 and np.abs(ours - fromto).max() < 1e-7, (k, i)
                near, deep = near + 1, deep + (expected < 0)
    assert near > 40 and deep > 20, (near, deep)


def _held(m, pair, now, dist, normal, middle):
    """Return the function of poses that distances of a pair have the derivative of: their point held in both geoms.

    The point moves with the mean of both geoms; each field counts by the steepness of the other. Poses and point are
    those of one scene; the function returns distance, normal and the point midway.
    """
    fields = []
    for g in pair:
        size = tuple(jnp.asarray(m.geom_size[g, k : k + 1]) for k in range(3))
        fields.append(field(m, GeomType(m.geom_type[g]), np.array([g]), size))
    at = middle - 0.5 * dist * normal
    local = [now[1][g].T @ (at - now[0][g]) for g in pair]

    def parts(xpos, xmat):
        place = 0.5 * sum(xpos[g] + xmat[g] @ x for g, x in zip(pair, local, strict=True))
        inside = [tuple((xmat[g].T @ (place - xpos[g]))[:, None]) for g in pair]
        values = [f.distance(x)[0] for f, x in zip(fields, inside, strict=True)]
        slopes = [xmat[g] @ jnp.concatenate(f.gradient(x)) for g, f, x in zip(pair, fields, inside, strict=True)]
        return place, values, slopes

    _, begin, slopes = parts(*now)
    rise = [jnp.linalg.norm(x) for x in slopes]

    def function(xpos, xmat):
        place, values, slopes = parts(xpos, xmat)
        gains = [v - b for v, b in zip(values, begin, strict=True)]
        value = dist + (rise[1] * gains[0] + rise[0] * gains[1]) / (rise[0] + rise[1])
        one, two = (x / jnp.linalg.norm(x) for x in slopes)
        turned = (one - two) / jnp.linalg.norm(one - two)
        return value, turned, place + 0.5 * value * turned

    return function


@pytest.mark.slow
@pytest.mark.parametrize("fixed", ["torus", "bowl", "gear"])
def test_derivatives_of_distances_are_those_of_the_point_held_in_both_geoms(fixed):
    """By differences of that function; the search itself ends off the deepest point and is not followed."""
    mj, m, reference = _scene(fixed, ROUND + FLOOR, 0.5)
    other = np.flatnonzero((mj.geom_type != GeomType.SDF) & (mj.geom_type != GeomType.PLANE))
    pair = np.stack([other, np.full(len(other), np.flatnonzero(mj.geom_type == GeomType.SDF)[0])], axis=1)
    rng = np.random.default_rng(3)
    shift, turn = (jnp.asarray(rng.normal(size=(mj.ngeom, 3))) for _ in range(2))
    d = make_data(m)

    def posed(s, xpos, xmat):
        turned = jax.vmap(lambda w: quaternion.matrix(quaternion.from_rotation_vector(w)))(s * turn)
        return xpos + s * shift, turned @ xmat

    def found(s, *now):
        xpos, xmat = posed(s, *now)
        return distances(m, d.replace(geom_xpos=xpos, geom_xmat=xmat), pair, jnp.full(len(pair), 1.0))

    def differences(now, values):
        held = [_held(m, p, now, *(x[i] for x in values)) for i, p in enumerate(pair)]

        def central(s):
            high, low = ([f(*posed(t, *now)) for f in held] for t in (s, -s))
            return jax.tree.map(lambda a, b: (a - b) / (2 * s), high, low)

        near, far = central(1e-6), central(2e-6)
        return jax.tree.map(lambda a, b: (4 * a - b) / 3, near, far)

    now = jnp.array([r.geom_xpos for r in reference]), jnp.array([r.geom_xmat.reshape(-1, 3, 3) for r in reference])
    values, slope = jax.jit(jax.vmap(lambda *x: jax.jvp(lambda s: found(s, *x), (0.0,), (1.0,))))(*now)
    expected = jax.jit(jax.vmap(differences))(now, values)
    count = 0
    for i in range(len(pair)):
        near = np.asarray(values[0][:, i]) < 0
        for mine, theirs in zip(slope, expected[i], strict=True):
            np.testing.assert_allclose(mine[near, i], theirs[near], rtol=1e-5, atol=1e-5)
        count += near.sum()
    assert count > 10 and max(np.abs(slope[0]).max(axis=0)) > 0.1, count
