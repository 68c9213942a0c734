"""Tendons around spheres and cylinders equal MuJoCo's at random and singular poses; derivatives; float32."""

import itertools

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest
import scipy.optimize

from mjx_like.compiler.load import from_xml_string
from mjx_like.errors import ModelError
from mjx_like.forward import forward
from mjx_like.math import quaternion
from mjx_like.math.vector import pack, unpack
from mjx_like.postconstraint.rne_postconstraint import rne_postconstraint
from mjx_like.smooth.com import com_pos
from mjx_like.smooth.kinematics import kinematics
from mjx_like.tendon.reflection import reflection_angle
from mjx_like.tendon.stage import tendon
from mjx_like.tendon.wrap import wrap
from tests.support.oracle import TIGHT, error, load, states
from tests.support.stages import data, dense

FIELDS = ("ten_length", "ten_J", "ten_wrapadr", "ten_wrapnum", "wrap_obj", "wrap_xpos")

# places of the side site: none, outside, within
SIDES = (None, ".5 .1 .2", ".1 .05 .02", ".1 .05 .5", ".5 0 0", "0 .4 .1", ".1 0 0", "-.3 .4 0")
ON_AXIS = (None, ".5 0 0", "0 .4 .1", "0 0 .9", ".1 0 0", "-.3 .4 0")
KINDS = ("sphere", "cylinder")


def around(pose: str, joint: str, ends: str, sides: tuple) -> str:
    """Return a model with geoms at one place, two bodies with ends, and a tendon for each geom and side site."""
    geoms = "".join(f'<geom name="{kind}" type="{kind}" size=".3 .1"/>' for kind in KINDS)
    sites = "".join(f'<site name="s{i}" pos="{side}"/>' for i, side in enumerate(sides) if side)
    paths = "".join(
        f'<spatial><site site="a"/><geom geom="{kind}" {"" if not sides[i] else f"sidesite={chr(34)}s{i}{chr(34)}"}/>'
        f'<site site="b"/><pulley divisor="{i + 1}"/><site site="a"/><site site="c"/></spatial>'
        for kind, i in itertools.product(KINDS, range(len(sides)))
    )
    return f"""<mujoco><worldbody><body {pose}>{joint}{geoms}{sites}</body>
    <body name="a">{ends}<geom size=".05"/><site name="a"/></body>
    <body name="b">{ends}<geom size=".05"/><site name="b"/><site name="c" pos="0 .2 .4"/></body>
    </worldbody><tendon>{paths}</tendon></mujoco>"""


SLIDES = "".join(f'<joint type="slide" axis="{a}"/>' for a in ("1 0 0", "0 1 0", "0 0 1"))
RANDOM = around('pos=".1 .2 .3" euler="20 30 40"', '<joint type="ball"/>', SLIDES, SIDES)
SINGULAR = around("", "", SLIDES, ON_AXIS)
POSES = (
    (-1, 0, 0, 1, 0, 0), (1, 0, 0, 1.5, 0, 0), (0, -1, 0, 0, 2, 0), (0, 0, 1, 0, 0, -1),
    (0.1, 0, 0, 1, 0, 0), (1, 0, 0, 1, 0, 0), (-0.5, 0.5, 0.5, 0.5, -0.5, -0.5), (-0.3, 0, 0, 1, 0, 0),
    (1, 0, 0, 1, 0.00001, 0), (0, 0, 0, 1, 0, 0), (0, 0, 1, 1, 0, 0), (0, 0, 0, 0, 0, 0),
)  # fmt: skip
GRAZING = ((-1, 0.3, 0, 1, 0.3, 0), (-1, -0.3, 0, 1, -0.3, 0))  # whether the tendon touches is a matter of rounding


def position(m, d, qpos):
    """Return d after the tendon stage at `qpos`."""
    return tendon(m, com_pos(m, kinematics(m, d.replace(qpos=qpos))))


def worst_error(mj, out, qpos: np.ndarray) -> dict[str, float]:
    """Return the worst error of each field over configurations."""
    worst = dict.fromkeys(FIELDS, 0.0)
    for i, q in enumerate(qpos):
        ref = mujoco.MjData(mj)
        ref.qpos[:] = q
        mujoco.mj_forward(mj, ref)
        for name in FIELDS:
            worst[name] = max(worst[name], error(getattr(out, name)[i], dense(mj, ref, name)))
    return worst


def test_random_poses_equal_mujoco():
    mj, m = load(RANDOM)
    d, qpos = data(m), np.random.default_rng(0).normal(size=(60, mj.nq)) * 0.6
    out = jax.jit(jax.vmap(lambda q: position(m, d, q)))(jnp.asarray(qpos))
    worst = worst_error(mj, out, qpos)
    assert max(worst.values()) < TIGHT, worst
    touching = (np.asarray(out.ten_wrapnum) == 7).sum(axis=0)
    assert (touching > 5).all() and (touching < 55).all(), touching


def test_singular_poses_equal_mujoco_and_have_finite_derivatives():
    mj, m = load(SINGULAR)
    d = data(m)

    def outputs(q):
        out = position(m, d, q)
        return (out.ten_length, out.ten_J, out.wrap_xpos), out

    derivatives, out = jax.jit(jax.vmap(jax.jacfwd(outputs, has_aux=True)))(jnp.array(POSES + GRAZING, float))
    worst = worst_error(mj, out, np.array(POSES))
    assert max(worst.values()) < TIGHT, worst
    worst = worst_error(mj, jax.tree.map(lambda x: x[len(POSES) :], out), np.array(GRAZING))
    assert max(worst["ten_length"], worst["ten_J"]) < TIGHT, worst
    assert all(np.isfinite(derivative).all() for derivative in derivatives)


def test_jacobian_is_the_derivative_of_length_and_has_the_right_derivative():
    """In configurations where no tendon is about to touch or leave its geom."""
    mj, m = load(RANDOM)
    d = data(m)
    rng = np.random.default_rng(3)
    qpos = jnp.asarray(0.6 * rng.normal(size=(6, mj.nq)))
    move, step = rng.normal(size=mj.nv), 1e-6

    def moved(q, scale):
        ball = quaternion.integrate(q[:4], jnp.asarray(move[:3]), scale)
        out = position(m, d, jnp.concatenate([quaternion.normalize(ball), q[4:] + scale * move[3:]]))
        return out.ten_length, out.ten_J, out.wrap_xpos, out.ten_wrapnum

    @jax.jit
    @jax.vmap
    def sample(q):
        _, slope = jax.jvp(lambda s: moved(q, s)[:3], (0.0,), (1.0,))
        return slope, moved(q, 0.0), moved(q, step), moved(q, -step)

    slope, here, after, before = sample(qpos)
    steady = np.asarray((after[3] == before[3]) & (here[3] == after[3])).all()
    assert steady
    change = np.asarray(here[1]) @ move
    reflected = np.array([side == ".1 .05 .02" or side == ".1 0 0" for _ in KINDS for side in SIDES])
    assert error(slope[0][:, ~reflected], change[:, ~reflected]) < 1e-12
    assert error(slope[0][:, reflected], change[:, reflected]) < 1e-6  # MuJoCo's search is no more exact
    differences = [np.asarray(x - y) / (2 * step) for x, y in zip(after[:3], before[:3], strict=True)]
    for k in range(2):
        assert error(slope[k][:, ~reflected], differences[k][:, ~reflected]) < 1e-6
        assert error(slope[k][:, reflected], differences[k][:, reflected]) < 1e-4
    assert error(slope[2], differences[2]) < 1e-4
    assert np.abs(slope[2]).max() > 0.1


def kernel(x: dict, cylinder: np.ndarray, has: np.ndarray):
    """Return the path around geoms of the arrays in `x`, with side sites where `has` says so."""
    points = (unpack(x[name]) for name in ("start", "stop", "center"))
    frame = quaternion.matrix(quaternion.normalize(x["quat"]))
    axes = tuple(unpack(frame[..., k]) for k in range(3))
    path = wrap(*points, axes, x["radius"], cylinder, (has, unpack(x["side"])))
    return path.touches, path.arc, pack(path.first), pack(path.last)


def random_spans(count: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    x = {name: rng.normal(size=(count, 3)) for name in ("start", "stop")}
    x |= {"center": 0.1 * rng.normal(size=(count, 3)), "quat": rng.normal(size=(count, 4))}
    return x | {"side": x["center"] + 0.4 * rng.normal(size=(count, 3)), "radius": rng.uniform(0.2, 0.6, count)}


def test_reverse_and_forward_derivatives_agree_in_every_input():
    x = jax.tree.map(jnp.asarray, random_spans(200))
    cylinder, has = np.arange(200) % 2 == 0, np.arange(200) % 3 > 0

    def total(x):
        touches, arc, first, last = kernel(x, cylinder, has)
        return jnp.sum(arc**2) + jnp.sum(jnp.where(touches[:, None], first**2 - last * jnp.arange(3.0), 0))

    tangent = jax.tree.map(jnp.ones_like, x)
    reverse = jax.jit(jax.grad(total))(x)
    forward = jax.jit(lambda x: jax.jvp(total, (x,), (tangent,))[1])(x)
    assert error(sum(jnp.sum(leaf) for leaf in jax.tree.leaves(reverse)), forward) < 1e-12
    largest = {name: float(np.abs(leaf).max()) for name, leaf in reverse.items()}
    assert largest.pop("side") < 1e-12  # it only chooses the way round
    assert all(0.1 < value < np.inf for value in largest.values()), largest


def test_single_precision_stays_near():
    x, cylinder, has = random_spans(200), np.arange(200) % 2 == 0, np.arange(200) % 3 > 0
    both = [
        jax.jit(lambda x: kernel(x, cylinder, has))(jax.tree.map(lambda a, t=t: jnp.asarray(a, t), x))
        for t in (jnp.float64, jnp.float32)
    ]
    same = np.asarray(both[0][0] == both[1][0])
    assert both[1][1].dtype == jnp.float32 and same.mean() > 0.99 and 60 < both[0][0].sum() < 180
    for far, near in zip(both[0][1:], both[1][1:], strict=True):
        assert np.abs(near - far)[same & np.asarray(both[0][0])].max() < 1e-3


def test_reflection_has_every_derivative():
    """Those of the exact solution, to the tolerance of the search."""

    def angle(x):
        return reflection_angle(x[:1], x[1:2], x[2:])[0]

    def exact(x):
        def residual(p):
            return np.arcsin(x[0] * np.sin(p)) + np.arcsin(x[1] * np.sin(p)) - 2 * p + x[2]

        return scipy.optimize.brentq(residual, 0, np.pi / 2, xtol=1e-15)

    x, step = np.array([0.6, 0.8, 1.1]), 1e-3
    shift = step * np.eye(3)
    slope = [(exact(x + s) - exact(x - s)) / (2 * step) for s in shift]
    curvature = [
        [(exact(x + s + t) - exact(x + s - t) - exact(x - s + t) + exact(x - s - t)) / (4 * step**2) for t in shift]
        for s in shift
    ]
    value, gradient, hessian = jax.jit(lambda x: (angle(x), jax.grad(angle)(x), jax.hessian(angle)(x)))(jnp.asarray(x))
    assert abs(value - exact(x)) < 1e-6
    assert error(gradient, slope) < 1e-5 and error(hessian, curvature) < 1e-4
    assert np.abs(hessian).min() > 1e-3


def test_force_on_bodies_does_the_work_of_the_tendon():
    """The wrenches of a unit of tension, moved by any velocity, give the tendon velocity."""
    mj, m = load(FORCED)
    state = states(mj, 2, steps=0)[1]
    reference = mujoco.MjData(mj)
    for name in ("qpos", "qvel", "ctrl"):
        getattr(reference, name)[:] = state[name]
    reference.ctrl[:] = 1
    mujoco.mj_forward(mj, reference)
    mujoco.mj_rnePostConstraint(mj, reference)
    assert reference.ten_wrapnum[0] == 4
    d = data(m).replace(qpos=jnp.asarray(state["qpos"]), qvel=jnp.asarray(state["qvel"]), ctrl=jnp.ones(1))
    d = jax.jit(lambda m, d: rne_postconstraint(m, forward(m, d)))(m, d)
    assert error(d.cfrc_ext, reference.cfrc_ext) < TIGHT
    assert np.abs(reference.cfrc_ext).max() > 0.1


def test_an_actuators_armature_on_a_wrapping_tendon_is_refused_by_name():
    with pytest.raises(ModelError, match="element <motor>: armature on a tendon that wraps around geoms"):
        from_xml_string(FORCED.replace('tendon="rope"', 'tendon="rope" armature=".1"'))


FORCED = """<mujoco><worldbody><site name="a" pos="-1 0 .2"/>
<body name="g"><joint axis="0 1 0"/><joint type="slide" axis="1 0 0"/><geom name="g" type="cylinder" size=".3 .2"
euler="70 10 0" mass="1"/></body><body pos="1 0 0"><joint axis="0 0 1"/><joint type="slide"/><geom size=".1"
mass="2" pos="0 .1 0"/><site name="b" pos="0 .1 0"/></body></worldbody>
<tendon><spatial name="rope" stiffness="3"><site site="a"/><geom geom="g"/><site site="b"/></spatial></tendon>
<actuator><motor tendon="rope" gear="2"/></actuator></mujoco>"""
