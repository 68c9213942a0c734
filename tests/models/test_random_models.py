"""Random models compile, move and step as in MuJoCo."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from tests.compiler.test_grammar import compared
from tests.models.random_model import Scene
from tests.support.oracle import error, reference, states

SEEDS = (4, 9, 10, 12, 13, 22, 23, 26, 27, 33, 35)
RK4 = mujoco.mjtIntegrator.mjINT_RK4
COUNT = 3  # states of each model
# fields after forward, with the bounds of the feature models
SMOOTH = (
    "xpos", "xquat", "xipos", "ximat", "xanchor", "xaxis", "geom_xpos", "geom_xmat", "site_xpos", "site_xmat",
    "cam_xpos", "cam_xmat", "subtree_com", "cdof", "cinert", "crb", "ten_length", "ten_velocity", "actuator_length",
    "actuator_velocity", "cvel", "qfrc_bias", "qfrc_passive", "qfrc_spring", "qfrc_damper", "qfrc_gravcomp",
    "qfrc_fluid", "qfrc_actuator", "actuator_force", "act_dot", "energy", "qacc_smooth",
)  # fmt: skip
BOUNDS = dict.fromkeys(SMOOTH, 1e-6) | dict.fromkeys(
    ("qfrc_constraint", "qacc", "sensordata", "cacc", "cfrc_ext", "cfrc_int"), 1e-4
)
STEP = dict.fromkeys(("qpos", "qvel", "act"), 1e-5)


def valid(seeds):
    """Yield seed and file of the scenes that MuJoCo accepts."""
    for seed in seeds:
        xml = Scene(seed).text()
        try:
            mujoco.MjModel.from_xml_string(xml)
        except ValueError:
            continue
        yield seed, xml


def wrong(xml: str) -> dict[str, object]:
    """Return what differs from MuJoCo by more than its bound: of the compiled model, after forward, after a step."""
    compiled = compared(xml)
    found: dict[str, object] = {} if compiled is None else {"compile": compiled}
    mj = mujoco.MjModel.from_xml_string(xml)
    mj.opt.tolerance, mj.opt.iterations, mj.opt.ls_iterations = 0, 200, 50
    m = mjx.Model.from_xml_string(xml)
    m = m.replace(opt=m.opt.replace(tolerance=0.0, iterations=200, ls_iterations=50))
    starts, d = states(mj, COUNT), mjx.make_data(m)
    stacked = {name: jnp.stack([jnp.asarray(s[name]) for s in starts]) for name in starts[0]}
    run = lambda function: jax.jit(jax.vmap(lambda s: function(m, d.replace(**s))))(stacked)  # noqa: E731
    after = jax.tree.map(np.asarray, run(mjx.step))
    # a step leaves what forward found, but for Runge-Kutta's, which ends elsewhere
    ours = jax.tree.map(np.asarray, run(mjx.forward)) if mj.opt.integrator == RK4 else after
    computed = {"energy": mj.opt.enableflags & mujoco.mjtEnableBit.mjENBL_ENERGY}
    late = ("cacc", "cfrc_ext", "cfrc_int")
    for i, start in enumerate(starts):
        theirs = reference(mj, start)
        if ours.ncon[i] != theirs.ncon:
            found.setdefault(f"ncon {i}", (int(ours.ncon[i]), theirs.ncon))
        if ours.nefc[i] != theirs.nefc:
            found.setdefault(f"nefc {i}", (int(ours.nefc[i]), theirs.nefc))
        for name, bound in BOUNDS.items():
            mine, other = getattr(ours, name)[i], getattr(theirs, name)
            if not computed.get(name, True) or (name in late and not mine.any()):
                continue
            if (off := error(_aligned(mine, other) if name == "xquat" else mine, other)) > bound:
                found[f"{name} {i}"] = off
        data = mujoco.MjData(mj)
        for name, value in start.items():
            getattr(data, name)[...] = value
        mujoco.mj_step(mj, data)
        for name, bound in STEP.items():
            if (off := error(getattr(after, name)[i], getattr(data, name))) > bound:
                found[f"step {name} {i}"] = off
    return found


def _aligned(mine: np.ndarray, other: np.ndarray) -> np.ndarray:
    return mine * np.where(np.sum(mine * other, axis=-1, keepdims=True) < 0, -1, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed, xml", valid(SEEDS), ids=lambda x: str(x) if isinstance(x, int) else "")
def test_random_model_equals_oracle(seed, xml):
    found = wrong(xml)
    assert not found, f"{found}\n{xml}"
