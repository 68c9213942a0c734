"""replay: one world of a rollout again; the same bits in equal calls, in other processes and in replays."""

import os
import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mjx_like.errors import InputError, MjxLikeError
from mjx_like.rollout.replay import replay
from mjx_like.rollout.rollout import CARRIED, rollout
from mjx_like.state.initial import make_data
from mjx_like.types.model import Model

ROOT = pathlib.Path(__file__).parents[2]
SWING = """
<mujoco>
  <worldbody>
    <body pos="1 0 .5"><joint name="h" axis="0 1 0" damping=".1"/><geom size=".05" pos=".2 0 0"/></body>
  </worldbody>
  <actuator><motor joint="h"/><general joint="h" dyntype="integrator"/></actuator>
</mujoco>
"""
# at most 16 dofs: worlds last in a rollout; more: worlds first
BALLS = """
<mujoco>
  <worldbody>
    <geom type="plane" size="5 5 .1"/>
    <body pos="0 0 .1"><freejoint/><geom size=".1"/></body>
    <body pos=".1 0 .28"><freejoint/><geom size=".1"/></body>
    <body pos=".1 .1 .5"><freejoint/><geom size=".1"/></body>
  </worldbody>
</mujoco>
"""
STEPS, BATCH = 7, 5
BITS = """
import hashlib, sys
import jax
import numpy as np
import mjx_like as mjx
from mjx_like.rollout.rollout import CARRIED
from tests.rollout.test_replay import BALLS, SWING, worlds

name, batch, steps, options = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), eval(sys.argv[4])
xml = {"swing": SWING, "balls": BALLS}.get(name)
m = mjx.Model.from_xml_string(xml) if xml else mjx.Model.from_xml_path(name)
d, ctrl = worlds(m, batch, steps)
first, second = (jax.tree.map(np.asarray, mjx.rollout(m, d, ctrl, **options)) for _ in range(2))
last = mjx.rollout(m, d, ctrl, return_data=True, **options)[1]
assert first.qpos.dtype == np.float32 and np.isfinite(first.qpos).all()
for name in ("time", "qpos", "qvel", "act"):
    assert getattr(first, name).tobytes() == getattr(second, name).tobytes(), name
for world in eval(sys.argv[5]):
    own = options | {"world": world, "records": first}
    again, end = (mjx.replay(m, d, ctrl, step=step, **own) for step in (range(1, steps + 1), steps))
    for name in ("time", "qpos", "qvel", "act"):
        same = np.asarray(getattr(again, name)).tobytes() == getattr(first, name)[world].tobytes()
        assert same, f"{name} of world {world}"
    for name in CARRIED:
        same = np.asarray(getattr(end, name)).tobytes() == np.asarray(getattr(last, name)[world]).tobytes()
        assert same, f"{name} of world {world} at the end"
print(hashlib.sha256(first.qpos.tobytes() + first.qvel.tobytes()).hexdigest())
"""


def worlds(m, batch=BATCH, steps=STEPS):
    """Return a batch of different Data, and controls for each."""
    rng = np.random.default_rng(0)
    d = jax.tree.map(lambda x: jnp.asarray(np.broadcast_to(x, (batch, *x.shape))), make_data(m))
    d = d.replace(qvel=jnp.asarray(rng.normal(size=(batch, m.nv)), d.qvel.dtype))
    return d, jnp.asarray(rng.normal(size=(batch, steps, m.nu)), d.ctrl.dtype)


def digest(name: str, batch: int, steps: int, options: str, replayed: tuple[int, ...]) -> str:
    """Return that of a rollout in float32 as users compile it, in a process of its own."""
    environment = {k: v for k, v in os.environ.items() if k not in ("XLA_FLAGS", "JAX_ENABLE_X64")}
    command = [sys.executable, "-c", BITS, name, str(batch), str(steps), options, repr(replayed)]
    environment |= {"NPROC": "8", "JAX_NUM_CPU_DEVICES": "2"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def model():
    return Model.from_xml_string(SWING)


@pytest.mark.slow
def test_equal_calls_have_equal_bits_in_two_processes():
    call = ("balls", 40, 40, "{'block': 16}")
    assert digest(*call, ()) == digest(*call, ())


@pytest.mark.slow
def test_a_replay_has_the_bits_of_the_rollout():
    digest("swing", 40, 20, "{'block': 16}", (0, 17, 39))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, batch, steps, options, replayed",
    [
        ("balls", 40, 40, "{}", (0, 17)),
        ("balls", 40, 40, "{'block': 16}", (0, 17, 39)),
        ("balls", 41, 40, "{'block': 6, 'devices': jax.devices()}", (3, 40)),
        ("models/hopper.xml", 256, 60, "{}", (17, 255)),
        ("models/humanoid.xml", 70, 60, "{'block': 32}", (17, 69)),
    ],
)
def test_replays_have_the_bits_of_the_rollout(name, batch, steps, options, replayed):
    digest(name, batch, steps, options, replayed)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"block": 2, "devices": jax.devices()[:1]}])
def test_equals_the_rollout(model, options):
    d, ctrl = worlds(model)
    records, end = rollout(model, d, ctrl, return_data=True, **options)
    again = replay(model, d, ctrl, world=3, step=range(STEPS + 1), **options)
    np.testing.assert_array_equal(again.qpos[0], d.qpos[3])
    np.testing.assert_array_equal(again.ctrl[:-1], ctrl[3])
    # the bits are held above, as users compile: what else is returned, and the flags of the tests, compile another loop
    np.testing.assert_allclose(again.qpos[1:], records.qpos[3], rtol=1e-13)
    for name in CARRIED:
        np.testing.assert_allclose(getattr(again, name)[-1], getattr(end, name)[3], rtol=1e-13, atol=1e-13)


def test_one_step_is_one_data(model):
    d, ctrl = worlds(model)
    several = replay(model, d, ctrl[0], world=2, step=[4])
    one = replay(model, d, ctrl[0], world=2, step=4)
    for a, b, own in zip(*map(jax.tree.leaves, (several, one, d)), strict=True):
        assert a.shape[1:] == b.shape == own.shape[1:]
        np.testing.assert_array_equal(a[0], b)
    np.testing.assert_array_equal(one.ctrl, ctrl[0, 4])


@pytest.mark.slow
def test_models_with_a_world_axis_and_held_controls(model):
    d, _ = worlds(model)
    varied = model.replace(body_mass=model.body_mass * jnp.linspace(0.5, 2, BATCH)[:, None])
    records = rollout(varied, d, steps=STEPS, block=2)
    again = replay(varied, d, world=4, step=STEPS, steps=STEPS, block=2)
    np.testing.assert_allclose(again.qpos, records.qpos[4, -1], rtol=1e-13)
    np.testing.assert_array_equal(again.ctrl, d.ctrl[4])


def test_records_of_another_rollout(model):
    d, ctrl = worlds(model)
    records = rollout(model, d, ctrl)
    other = records.replace(qpos=records.qpos.at[2, 4].add(1e-3))
    with pytest.raises(MjxLikeError, match="the replay of world 2 differs from records= at step"):
        replay(model, d, ctrl, world=2, step=0, records=other)
    with pytest.raises(InputError, match="give both the same record="):
        replay(model, d, ctrl, world=2, step=0, records=records.qpos)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"world": 5}, "world=5: d holds worlds 0 to 4"),
        ({"world": -1}, "world=-1: d holds worlds 0 to 4"),
        ({"block": 0}, "block=0: must be a whole number of at least 1"),
        ({"record": 3}, "record="),
        ({"step": STEPS + 1}, "step=8: the rollout has steps 0 to 6, and 7 is its end"),
        ({"step": -1}, "step=-1: the rollout has steps 0 to 6"),
        ({"step": 0.5}, "step=0.5: the rollout has steps"),
        ({"ctrl": np.zeros((9, STEPS, 2))}, r"ctrl has shape \(9, 7, 2\), but d holds 5 worlds"),
        ({"d": None}, "world=0: d holds one world, without an axis"),
    ],
)
def test_arguments_that_do_not_fit(model, change, message):
    d, ctrl = worlds(model)
    arguments = {"d": d, "ctrl": ctrl, "world": 0, "step": 0} | change
    arguments["d"] = make_data(model) if arguments["d"] is None else d
    with pytest.raises(InputError, match=message):
        replay(model, **arguments)
