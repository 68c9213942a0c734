"""The derivative of the distance of shapes, apart and overlapping, equals differences of it.

Where nearest points are searched for, differences would show where the search ended: those of the exact optimum of the
support functions stand in for them, and the search has the tolerance that it has by default.
"""

import functools

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.collision.distance import geom_distance
from mjx_like.collision.table import PAIRS as TABLE
from mjx_like.collision.table import Method
from mjx_like.integrator.position import integrate_pos
from mjx_like.interop.convert import put_model
from mjx_like.smooth.kinematics import kinematics
from mjx_like.state.initial import make_data
from mjx_like.types.enums import GeomType
from tests.collision import optimum

SHAPES = {
    "plane": 'type="plane" size="1 1 1"',
    "sphere": 'size=".1"',
    "capsule": 'type="capsule" size=".06 .12"',
    "ellipsoid": 'type="ellipsoid" size=".06 .1 .15"',
    "cylinder": 'type="cylinder" size=".08 .12"',
    "box": 'type="box" size=".06 .1 .14"',
}
NAMES = tuple(SHAPES)
CLOSED = {kinds for kinds, row in TABLE.items() if row.method == Method.KERNEL and row.nearest}
PAIRS = [(a, b) for a in NAMES for b in NAMES if (GeomType[a.upper()], GeomType[b.upper()]) in CLOSED]
SEARCHED = [(a, b) for i, a in enumerate(NAMES) for b in NAMES[i:] if a != "plane" and (a, b) not in PAIRS]
QUICK = {("sphere", "capsule")}
POSES, ROUGH, LIMIT = 1000, 1e-3, 1e-6


def _model(pair):
    first, second = (SHAPES[name] for name in pair)
    held = f"<geom {first}/>" if pair[0] == "plane" else f"<body><freejoint/><geom {first}/></body>"
    xml = f"<mujoco><worldbody>{held}<body><freejoint/><geom {second}/></body></worldbody></mujoco>"
    return put_model(mujoco.MjModel.from_xml_string(xml))


def _poses(m, count):
    """Return positions of two shapes near each other, and directions in the tangent space."""
    rng = np.random.default_rng(0)
    move = 0.1 * rng.normal(size=(count, m.nv)) * np.where(np.arange(m.nv) % 6 < 3, 1, 20)
    qpos = jax.vmap(functools.partial(integrate_pos, m, m.qpos0), (0, None))(jnp.asarray(move), 1.0)
    return qpos, jnp.asarray(rng.normal(size=move.shape))


def _moved(m, qpos, v):
    """Return Data with the poses of geoms a little further."""
    return kinematics(m, make_data(m).replace(qpos=integrate_pos(m, qpos, v, 1.0)))


@pytest.mark.parametrize(
    "pair", [pytest.param(p, id="-".join(p), marks=() if p in QUICK else pytest.mark.slow) for p in PAIRS]
)
def test_distance(pair):
    m = _model(pair)
    qpos, way = _poses(m, POSES)
    zero = jnp.zeros(m.nv)

    def distance(qpos, v):
        return geom_distance(m, _moved(m, qpos, v), 0, 1, 10.0)[0]

    value, slope = jax.jit(jax.vmap(lambda q: jax.value_and_grad(distance, 1)(q, zero)))(qpos)
    along = np.sum(np.asarray(slope) * way, axis=1)
    at, h = jax.jit(jax.vmap(distance)), 1e-6
    ahead, behind = (np.asarray(at(qpos, s * h * way)) for s in (1, -1))
    numeric = (ahead - behind) / (2 * h)
    rough = np.abs(ahead + behind - 2 * np.asarray(value)) / h > ROUGH
    assert rough.mean() < 0.05, rough.mean()
    wrong = np.abs(along - numeric) > LIMIT * (1 + np.abs(numeric))
    assert not (wrong & ~rough).any(), (np.abs(along - numeric)[wrong & ~rough], np.flatnonzero(wrong & ~rough))
    assert min((value < 0).mean(), (value > 0).mean()) > 0.05


@pytest.mark.slow
@pytest.mark.parametrize("pair", SEARCHED, ids="-".join)
def test_searched_distance(pair):
    m = _model(pair)
    qpos, way = _poses(m, 120)
    size, h = np.asarray(m.geom_size), 1e-5

    def distance(t, qpos, way):
        d = _moved(m, qpos, t * way)
        dist, ends = geom_distance(m, d, 0, 1, 10.0)
        return dist, (ends, d.geom_xpos, d.geom_xmat)

    value, slope, (ends, *_) = jax.jit(
        jax.vmap(lambda q, w: jax.jvp(lambda t: distance(t, q, w), (0.0,), (1.0,), has_aux=True))
    )(qpos, way)
    around = jax.vmap(distance, (0, None, None))
    _, (_, xpos, xmat) = jax.jit(jax.vmap(around, (None, 0, 0)))(h * jnp.arange(-2.0, 3.0), qpos, way)
    xpos, xmat, value, slope = (np.asarray(x) for x in (xpos, xmat, value, slope))
    off, unsure = [], 0
    for k in range(len(qpos)):
        geoms = [[optimum.Geom(*x) for x in zip(pair, xpos[k, i], xmat[k, i], size, strict=True)] for i in range(5)]
        normal = np.asarray(ends[k, 3:] - ends[k, :3]) / value[k]
        ids = tuple(optimum.touching(g, s * normal) for g, s in zip(geoms[2], (1, -1), strict=True))
        now = optimum.optimum(*geoms[2], normal, ids)
        if abs(now.dist - value[k]) > 1e-5 or not optimum.certified(*geoms[2], now):
            unsure += 1
            continue
        dist = [optimum.optimum(*x, now.normal, ids).dist for x in geoms]
        numeric = (8 * (dist[3] - dist[1]) - (dist[4] - dist[0])) / (12 * h)
        off.append(abs(slope[k] - numeric) / (1 + abs(numeric)))
    assert unsure <= 0.05 * len(qpos), unsure
    assert max(off) < LIMIT, sorted(off)[-5:]
    assert min((value < 0).mean(), (value > 0).mean()) > 0.05
