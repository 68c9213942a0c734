"""What records print: their names, and those, shapes and types of their fields, in few lines."""

import jax
import jax.numpy as jnp
import mujoco
import pytest

import mjx_like as mjx
from mjx_like.rollout.recording import Trajectory

XML = """
<mujoco>
  <worldbody>
    <geom type="plane" size="5 5 .1"/>
    <body name="ball"><freejoint/><geom size=".1"/></body>
  </worldbody>
</mujoco>
"""


@pytest.fixture(scope="module")
def m():
    return mjx.put_model(mujoco.MjModel.from_xml_string(XML))


def test_a_trajectory():
    zeros = {"time": jnp.zeros(4), "qpos": jnp.zeros((4, 7)), "qvel": jnp.zeros((4, 6), jnp.float32)}
    empty = {name: jnp.zeros((4, 0)) for name in ("act", "sensordata")}
    assert repr(Trajectory(**zeros, **empty)) == (
        "Trajectory\n  float64: time (4,), qpos (4, 7)\n  float32: qvel (4, 6)\n  empty: act (4, 0), sensordata (4, 0)"
    )


def test_data(m):
    text = repr(mjx.make_data(m))
    lines = text.splitlines()
    assert lines[0] == "Data" and lines[1].startswith("  float64: time (), qpos (7,), qvel (6,), ")
    assert "  contact: Contact" in lines and "    int32: dim (1,), exclude (1,), geom (1, 2), efc_address (1,)" in lines
    assert "    float64: dist (1,), pos (1, 3), frame (1, 3, 3), " in text
    assert len(lines) < 30 and max(map(len, lines)) <= 110 and "object at" not in text


def test_a_model(m):
    lines = repr(m).splitlines()
    assert lines[:2] == ["Model", "  topology: " + repr(m.topology)]
    assert repr(m.topology) == "Topology(nq=7, nv=6, nu=0, na=0, nbody=2, njnt=1, ngeom=2, nconmax=1, njmax=4)"
    assert "  opt_floats: OptionFloats" in lines and "  stat: Statistic" in lines
    assert len(lines) < 30 and max(map(len, lines)) <= 110
    assert "body_mass (2,)" in repr(m) and "smoothing" not in repr(m) and "more" in lines[-1]


def test_options_have_their_values(m):
    text = repr(m.opt)
    assert text.startswith("Option\n  timestep 0.002, impratio 1, tolerance 1e-08, ls_tolerance 0.01, ")
    assert "gravity [0 0 -9.81]" in text and "integrator EULER, cone PYRAMIDAL, " in text and "iterations 100" in text
    batched = m.opt.replace(timestep=jnp.ones(3), gravity=jnp.zeros((3, 3)))
    assert "timestep float64 (3,)" in repr(batched) and "gravity float64 (3, 3)" in repr(batched)


def test_traced_leaves_and_what_is_no_array(m):
    texts = []
    jax.eval_shape(jax.vmap(lambda d: texts.append(repr(d))), jax.tree.map(lambda x: x[None], mjx.make_data(m)))
    jax.eval_shape(lambda m: texts.append(repr(m.opt)), m)
    assert texts[0] == repr(mjx.make_data(m)) and "timestep float64 ()" in texts[1]
    axes = jax.tree.map(lambda x: None, mjx.make_data(m)).replace(qpos=0)
    assert repr(axes).splitlines()[:2] == ["Data", "  qpos: 0"]


def test_named_objects(m):
    assert repr(m.body("ball")) == "body 'ball', id 1" and repr(m.geom(0)) == "geom, id 0"
    assert repr(m.joint(0)) == "joint, id 0"
