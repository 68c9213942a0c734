"""forward, step and inverse against MuJoCo C, in float64, over real models and one small model per feature."""

import pathlib

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.forward import forward
from mjx_like.inverse import inverse
from mjx_like.state import make_data
from mjx_like.step import step
from tests.oracle import ACCELERATION, GYM, STATE, TIGHT, error, load, reference, states

FEATURES = sorted((pathlib.Path(__file__).parents[2] / "models/features").glob("*.xml"))
SUITE = pathlib.Path(__import__("dm_control").__file__).parent / "suite"
QUICK = ("kinematics_mocap", "tendon_armature")
FAST = [SUITE / "pendulum.xml", GYM / "ant.xml"]
SLOW = [
    *(path for path in sorted(GYM.glob("*.xml")) if path not in FAST),
    *(SUITE / f"{name}.xml" for name in
      "acrobot ball_in_cup cartpole cheetah finger fish hopper humanoid humanoid_CMU pendulum point_mass reacher "
      "swimmer walker".split()),
]  # fmt: skip

SMOOTH = """
xpos xquat xmat xipos ximat xanchor xaxis geom_xpos geom_xmat site_xpos site_xmat cam_xpos cam_xmat light_xpos
light_xdir subtree_com cdof cinert crb ten_length ten_velocity actuator_length actuator_velocity cvel cdof_dot
qfrc_bias qfrc_passive qfrc_spring qfrc_damper qfrc_gravcomp qfrc_fluid qfrc_adhesion qfrc_actuator actuator_force
act_dot energy qacc_smooth
""".split()
SOLVED = "qacc qfrc_constraint sensordata".split()


def check(path: pathlib.Path) -> None:
    mj, m = load(str(path))
    empty = make_data(m)
    start = [{k: jnp.asarray(v) for k, v in s.items()} for s in states(mj)]
    stacked = jax.tree.map(lambda *x: jnp.stack(x), *start)
    both = jax.jit(jax.vmap(lambda s: (forward(m, empty.replace(**s)), step(m, empty.replace(**s)))))
    ours, after = both(stacked)
    back = jax.jit(jax.vmap(lambda s, a: inverse(m, empty.replace(**s, qacc=a)).qfrc_inverse))
    theirs = [reference(mj, s) for s in states(mj)]
    force = back(stacked, jnp.stack([jnp.asarray(d.qacc) for d in theirs]))
    worst = {}
    for i, ref in enumerate(theirs):
        mine, next_state = (jax.tree.map(lambda x, i=i: np.asarray(x[i]), tree) for tree in (ours, after))
        for name in SMOOTH + SOLVED:
            worst[name] = max(worst.get(name, 0), error(getattr(mine, name), getattr(ref, name)))
        worst["rows"] = max(worst.get("rows", 0), _rows(mj, mine, ref))
        moved = mujoco.MjData(mj)
        for name in STATE:
            getattr(moved, name)[...] = getattr(ref, name)
        mujoco.mj_step(mj, moved)
        for name in ("qpos", "qvel", "act", "plastic"):
            worst["step_" + name] = max(
                worst.get("step_" + name, 0), error(getattr(next_state, name), getattr(moved, name))
            )
        mujoco.mj_inverse(mj, ref)
        worst["inverse"] = max(worst.get("inverse", 0), error(force[i], ref.qfrc_inverse))
    limits = dict.fromkeys(SMOOTH, TIGHT) | dict.fromkeys([*SOLVED, "inverse"], ACCELERATION) | {"rows": 1e-8}
    bad = {name: value for name, value in worst.items() if value > limits.get(name, ACCELERATION)}
    assert not bad, bad


def _rows(mj, ours, theirs) -> float:
    """Return the error of the constraint rows in use, infinite for another number of contacts or rows."""
    if (ours.ncon, ours.nefc) != (theirs.ncon, theirs.nefc):
        return np.inf
    jacobian = np.zeros((theirs.nefc, mj.nv))
    if theirs.nefc:
        if mujoco.mj_isSparse(mj):
            sparse = (theirs.efc_J_rownnz, theirs.efc_J_rowadr, theirs.efc_J_colind)
            mujoco.mju_sparse2dense(jacobian, theirs.efc_J, *sparse)
        else:
            jacobian[:] = theirs.efc_J.reshape(theirs.nefc, mj.nv)
    fields = ("efc_pos", "efc_D", "efc_aref", "efc_KBIP", "efc_type", "efc_id")
    pairs = [(ours.efc_J, jacobian), *((getattr(ours, n), getattr(theirs, n)) for n in fields)]
    return max(error(a[: theirs.nefc], b) for a, b in pairs)


@pytest.mark.parametrize("path", FAST, ids=lambda p: p.stem)
def test_real_model(path):
    check(path)


@pytest.mark.slow
@pytest.mark.parametrize("path", SLOW, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_every_real_model(path):
    check(path)


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=[] if path.stem in QUICK else pytest.mark.slow) for path in FEATURES],
)
def test_feature(path):
    check(path)
