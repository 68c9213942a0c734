"""The derivative of the distance of shapes with a closed form, apart and overlapping, equals differences of it.

Pairs whose nearest points are searched for are left out: differences over 1e-6 show where the search ended.
"""

import functools

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.collision.closed import CLOSED
from mjx_like.collision.distance import geom_distance
from mjx_like.integrator.position import integrate_pos
from mjx_like.interop import put_model
from mjx_like.smooth.kinematics import kinematics
from mjx_like.state import make_data
from mjx_like.types.enums import GeomType

SHAPES = {
    "plane": 'type="plane" size="1 1 1"',
    "sphere": 'size=".1"',
    "capsule": 'type="capsule" size=".06 .12"',
    "ellipsoid": 'type="ellipsoid" size=".06 .1 .15"',
    "cylinder": 'type="cylinder" size=".08 .12"',
    "box": 'type="box" size=".06 .1 .14"',
}
NAMES = tuple(SHAPES)
PAIRS = [(a, b) for a in NAMES for b in NAMES if (GeomType[a.upper()], GeomType[b.upper()]) in CLOSED]
QUICK = {("sphere", "capsule")}
POSES, ROUGH, LIMIT = 1000, 1e-3, 1e-6


@pytest.mark.parametrize(
    "pair", [pytest.param(p, id="-".join(p), marks=() if p in QUICK else pytest.mark.slow) for p in PAIRS]
)
def test_distance(pair):
    first, second = (SHAPES[name] for name in pair)
    held = f"<geom {first}/>" if pair[0] == "plane" else f"<body><freejoint/><geom {first}/></body>"
    m = put_model(
        mujoco.MjModel.from_xml_string(
            f"<mujoco><worldbody>{held}<body><freejoint/><geom {second}/></body></worldbody></mujoco>"
        )
    )
    d, rng = make_data(m), np.random.default_rng(0)
    move = 0.1 * rng.normal(size=(POSES, m.nv)) * np.where(np.arange(m.nv) % 6 < 3, 1, 20)

    def distance(qpos, v):
        moved = d.replace(qpos=integrate_pos(m, qpos, v, 1.0))
        return geom_distance(m, kinematics(m, moved), 0, 1, 10.0)[0]

    qpos = jax.vmap(functools.partial(integrate_pos, m, m.qpos0), (0, None))(jnp.asarray(move), 1.0)
    way, zero = jnp.asarray(rng.normal(size=move.shape)), jnp.zeros(m.nv)
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
