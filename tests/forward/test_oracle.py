"""forward, step and inverse against MuJoCo C, in float64, over real models and one small model per feature."""

import pathlib

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.forward import forward
from mjx_like.inverse import inverse, inverse_skip
from mjx_like.state.initial import make_data
from mjx_like.step import step
from mjx_like.types.enums import IntegratorType, Stage
from tests.models import SMALL
from tests.support.oracle import ACCELERATION, GYM, STATE, TIGHT, error, load, reference, states
from tests.support.tolerances import ROWS

SUITE = pathlib.Path(__import__("dm_control").__file__).parent / "suite"
FAST = [SUITE / "pendulum.xml"]
SLOW = [
    *(path for path in sorted(GYM.glob("*.xml")) if path not in FAST),
    *(SUITE / f"{name}.xml" for name in
      "acrobot ball_in_cup cartpole cheetah finger fish hopper humanoid humanoid_CMU pendulum point_mass reacher "
      "swimmer walker".split()),
]  # fmt: skip

# Small models in the slow set: one that stays, or a test of the stage alone, has most of their program.
ALIKE = """
acrobot actuator_dcmotor actuator_orientation actuator_pid ant arm cartpole condim1_elliptic condim1_pyramidal
condim3_pyramidal condim4_elliptic condim4_pyramidal condim6_elliptic condim6_pyramidal contact_adhesion
contact_adhesion_elliptic contact_filter contact_mixing contact_override cube delay diagexact diagexact_elliptic
double_pendulum equality_inactive equality_mocap friction_tendon half_cheetah hopper humanoid integrator_discrete
integrator_discrete_constraint integrator_rk4 invdiscrete limit_both_sides muscle_lengthrange noslip_elliptic noslip_pgs
noslip_pyramidal pair_box_box_edge pair_box_box_face pair_capsule_box pair_capsule_box_flat
pair_capsule_capsule_parallel pair_capsule_cylinder pair_capsule_ellipsoid pair_capsule_mesh pair_cylinder_box
pair_cylinder_box_flat pair_cylinder_cylinder pair_cylinder_cylinder_stack pair_cylinder_mesh pair_ellipsoid_box
pair_ellipsoid_cylinder pair_ellipsoid_ellipsoid pair_ellipsoid_mesh pair_hfield_box pair_hfield_capsule
pair_hfield_cylinder pair_hfield_ellipsoid pair_hfield_mesh pair_hfield_sphere pair_mesh_mesh pair_mesh_sdf
pair_plane_box_flat pair_plane_capsule pair_plane_cylinder pair_plane_cylinder_lying pair_plane_cylinder_upright
pair_plane_ellipsoid pair_plane_mesh pair_plane_sdf pair_plane_sphere pair_sphere_capsule pair_sphere_cylinder
pair_sphere_ellipsoid pair_sphere_mesh pair_sphere_sphere pendulum planar_box pusher quadruped rangefinder_surface
sensor_contact sensor_distance sensor_joint sensor_tactile solref_direct solver_cg solver_pgs speculative
springyield_joint springyield_tendon surface_velocity surface_velocity_elliptic transmission_joint
transmission_jointinparent transmission_tendon walker wrap_cylinder wrap_inside_cylinder wrap_inside_sphere wrap_pulley
wrap_sidesite_cylinder wrap_sidesite_sphere
""".split()

SMOOTH = """
xpos xquat xmat xipos ximat xanchor xaxis geom_xpos geom_xmat site_xpos site_xmat cam_xpos cam_xmat light_xpos
light_xdir subtree_com cdof cinert crb ten_length ten_velocity actuator_length actuator_velocity cvel cdof_dot
qfrc_bias qfrc_passive qfrc_spring qfrc_damper qfrc_gravcomp qfrc_fluid qfrc_adhesion qfrc_actuator actuator_force
act_dot energy qacc_smooth
""".split()
SOLVED = "qacc qfrc_constraint sensordata".split()


# The midphase of MuJoCo passes over the cube that rests on the table of the arm, up to 3e-7 m deep (docs/rounding.md).
OPTIONS = {"arm": {"disableflags": int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)}}
MOVE = 1e-14  # [m or rad] of the pose, where MuJoCo's result hangs on rounding
MOVES, BOTH = 400, 32  # moved poses of MuJoCo, and of both engines


def check(path: pathlib.Path, whole: bool = False) -> None:
    """Compare forward, step and inverse at four states.

    whole: `forward` and `inverse` on their own; else what `step` leaves of both, a program of half the length.

    Where contacts hang on rounding, as those of a cylinder that stands flat, MuJoCo itself must change as much when the
    pose moves by rounding, and both engines must agree at one such pose.
    """
    mj, m = load(str(path), **OPTIONS.get(path.stem, {}))
    run = _program(m, whole or m.opt.integrator == IntegratorType.RK4)
    start = states(mj)
    for state, bad in zip(start, _misses(mj, run, start), strict=True):
        if not bad:
            continue
        moved = _moved(mj, state, MOVES)
        theirs, change = _answers(mj, state), {}
        for own in (_answers(mj, s, theirs[0].qacc) for s in moved):
            change = {name: max(change.get(name, 0), x) for name, x in _errors(mj, own, theirs).items()}
        assert all(change[name] > 0.1 * miss for name, miss in bad.items()), (bad, change)
        batches = (moved[k : k + len(start)] for k in range(0, BOTH, len(start)))
        assert any(not miss for batch in batches for miss in _misses(mj, run, batch)), bad


def _program(m, whole: bool):
    """Return the compiled function of states and accelerations: Data, Data after a step, forces of inverse.

    What a step derives is of its start; not so in the stages of RK4.
    """
    empty = make_data(m)

    def run(state, qacc):
        d = empty.replace(**state)
        after = step(m, d)
        if whole:
            return forward(m, d), after, inverse(m, d.replace(qacc=qacc)).qfrc_inverse
        return after, after, inverse_skip(m, after.replace(**state, qacc=qacc), Stage.VEL).qfrc_inverse

    return jax.jit(jax.vmap(run))


def _misses(mj, run, start) -> list[dict[str, float]]:
    """Return the errors above their limits, of each state."""
    theirs = [_answers(mj, s) for s in start]
    stacked = jax.tree.map(lambda *x: jnp.stack([jnp.asarray(a) for a in x]), *start)
    ours = run(stacked, jnp.stack([jnp.asarray(ref.qacc) for ref, *_ in theirs]))
    limits = dict.fromkeys(SMOOTH, TIGHT) | {"rows": ROWS}
    misses = []
    for i, ref in enumerate(theirs):
        errors = _errors(mj, jax.tree.map(lambda x, i=i: np.asarray(x[i]), ours), ref)
        misses.append({name: x for name, x in errors.items() if x > limits.get(name, ACCELERATION)})
    return misses


def _answers(mj, state, qacc=None):
    """Return what MuJoCo finds: MjData, MjData after a step, forces of inverse at `qacc`, by default its own."""
    ref, after, back = reference(mj, state), mujoco.MjData(mj), reference(mj, state)
    for name in STATE:
        getattr(after, name)[...] = getattr(ref, name)
    mujoco.mj_step(mj, after)
    if qacc is not None:
        back.qacc[:] = qacc
    mujoco.mj_inverse(mj, back)
    return ref, after, back.qfrc_inverse


def _errors(mj, ours, theirs) -> dict[str, float]:
    """Return the difference of two answers, by name."""
    (mine, my_step, my_force), (ref, after, force) = ours, theirs
    found = {name: error(getattr(mine, name), getattr(ref, name)) for name in SMOOTH + SOLVED}
    moved = {f"step_{n}": error(getattr(my_step, n), getattr(after, n)) for n in ("qpos", "qvel", "act", "plastic")}
    return found | moved | {"rows": _rows(mj, mine, ref), "inverse": error(my_force, force)}


def _moved(mj, state, count: int):
    """Return the state with its pose moved by rounding, in random directions."""
    rng, out = np.random.default_rng(0), []
    for _ in range(count):
        qpos = state["qpos"].copy()
        mujoco.mj_integratePos(mj, qpos, MOVE * rng.uniform(-1, 1, mj.nv), 1.0)
        out.append(state | {"qpos": qpos})
    return out


def _rows(mj, ours, theirs) -> float:
    """Return the error of the constraint rows in use, infinite for another number of contacts or rows."""
    if (ours.ncon, ours.nefc) != (theirs.ncon, theirs.nefc):
        return np.inf
    fields = ("efc_pos", "efc_D", "efc_aref", "efc_KBIP", "efc_type", "efc_id")
    pairs = [(_jacobian(mj, ours), _jacobian(mj, theirs)), *((getattr(ours, n), getattr(theirs, n)) for n in fields)]
    return max(error(a[: theirs.nefc], b[: theirs.nefc]) for a, b in pairs)


def _jacobian(mj, data) -> np.ndarray:
    """Return the dense Jacobian of the rows, of ours or of an MjData."""
    if not isinstance(data, mujoco.MjData) or not data.nefc:
        rows = np.asarray(data.efc_J)
        return rows.reshape(-1, mj.nv) if mj.nv else np.zeros((data.nefc, 0))
    if not mujoco.mj_isSparse(mj):
        return data.efc_J.reshape(data.nefc, mj.nv)
    dense = np.zeros((data.nefc, mj.nv))
    mujoco.mju_sparse2dense(dense, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind)
    return dense


@pytest.mark.parametrize("path", FAST, ids=lambda p: p.stem)
def test_real_model(path):
    check(path, whole=True)


@pytest.mark.slow
@pytest.mark.parametrize("path", SLOW, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_every_real_model(path):
    check(path, whole=True)


@pytest.mark.parametrize(
    "path",
    [pytest.param(p, id=p.stem, marks=[pytest.mark.slow] if p.stem in ALIKE else []) for p in SMALL],
)
def test_small_model(path):
    check(path)
