"""Stacks rest as they do in MuJoCo C: from its settled state, neither the poses drift nor the speeds grow."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.interop.convert import put_model
from mjx_like.state.initial import make_data
from mjx_like.step import step
from tests.models import HERE
from tests.support.oracle import STATE

MODELS = HERE / "stacks"
STEPS = 50


@pytest.mark.slow
@pytest.mark.parametrize(("name", "settling"), [("stack_boxes", 1.0), ("card_house", 1.5)])
def test_rest(name, settling):
    mj = mujoco.MjModel.from_xml_path(str(MODELS / f"{name}.xml"))
    m, data = put_model(mj, nconmax=128), mujoco.MjData(mj)
    while data.time < settling:
        mujoco.mj_step(mj, data)
    start = {key: np.array(getattr(data, key)) for key in STATE}

    def advance(d, _):
        d = step(m, d)
        return d, (d.qpos, d.qvel, d.unconverged, d.ncon)

    d = make_data(m).replace(**{key: jnp.asarray(value) for key, value in start.items()})
    last, (qpos, qvel, unconverged, ncon) = jax.jit(lambda d: jax.lax.scan(advance, d, None, STEPS))(d)
    path, speed = [], []
    for _ in range(STEPS):
        mujoco.mj_step(mj, data)
        path.append(np.array(data.qpos))
        speed.append(np.abs(data.qvel).max())
    moved = np.abs(np.array(path) - start["qpos"]).max()
    assert int(ncon[-1]) > 0 and int(unconverged[-1]) == 0
    assert np.abs(np.asarray(qpos[0]) - path[0]).max() < 1e-7
    assert np.abs(np.asarray(qpos) - start["qpos"]).max() < 2 * moved + 1e-5
    assert np.abs(np.asarray(qvel)).max() < 2 * max(speed) + 1e-4
