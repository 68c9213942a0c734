"""Rows bounce, balls, billiard and elastic: derivatives through an impact, whose right answers are known.

Impacts are inelastic, what meets stays together along the normal, but for those of `elastic`.  MuJoCo C has its default
soft contact, which comes near that, and gives central differences of its own steps.  Without gravity, so that the
impact is all there is.
"""

import pathlib
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import mujoco
import numpy as np

import mjx_like as mjx

GAP = 1e-6
GAPS = (1e-6, 1e-7, 1e-8, 1e-9)  # of `elastic`
RATE = 480  # steps a second
SECONDS = 1.0
RADIUS = 0.1
PHASES = 8
BALL = f'<geom size="{RADIUS}" mass="1" friction="0 0 0"/>'
ALONG, ACROSS = '<joint type="slide" axis="1 0 0"/>', '<joint type="slide" axis="0 1 0"/>'
SCENE = '<mujoco><option timestep="{h}" gravity="0 0 0"/><worldbody>{bodies}</worldbody></mujoco>'
WALL = f'<geom type="plane" size="5 5 1" zaxis="1 0 0" friction="0 0 0"/><body>{ALONG}{BALL}</body>'
LINE = f"<body>{ALONG}{BALL}</body>" * 2
TABLE = f"<body>{ALONG}{ACROSS}{BALL}</body>" * 2


class Shot(NamedTuple):
    """A rollout: qpos[output] at its end as a function of x, which `start` makes qpos and qvel from."""

    bodies: str
    start: Callable
    x: np.ndarray
    output: list[int]
    seconds: float = SECONDS


def _aimed(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    none = jnp.zeros_like(x[0])
    return jnp.stack([x[2], x[1], none, none]), jnp.stack([x[0], none, none, none])


OBLIQUE = Shot(TABLE, _aimed, np.zeros(3), [2, 3])


def bounce(out: pathlib.Path | None) -> None:
    """A ball at 1 m/s meets a wall after 0.401 m and stays there."""
    print("bounce, inelastic: d(end)/d(start) right 0")
    _compare(Shot(WALL, lambda x: (x, -jnp.ones(1)), np.array([0.501]), [0]), np.zeros((1, 1)))


def balls(out: pathlib.Path | None) -> None:
    """A ball at 1 m/s meets an equal one at rest; from there both go on at the mean of their velocities."""
    print("balls, inelastic: d(end of the second)/d(x1, x2, v1, v2), right 0.5 each")
    _compare(Shot(LINE, lambda x: (x[:2], x[2:]), np.array([0.0, 0.601, 1.0, 0.0]), [1]), np.full((1, 4), 0.5))


def billiard(out: pathlib.Path | None) -> None:
    """A ball meets another off its centre, which leaves along the line of centres."""
    print("billiard, inelastic: d(end of the second)/d(speed of the first, its offset, its start)")
    print(f"  mean and deviation over {PHASES} starts within the way of a step; right by the closed form")
    for rate in (RATE, 10 * RATE):
        starts = _starts(rate)
        right = jax.vmap(jax.jacfwd(_struck))(jnp.asarray(starts))
        ours = jax.jit(jax.vmap(jax.jacfwd(_run(OBLIQUE, GAP, rate))))(jnp.asarray(starts))
        soft = [_differences(_in_c(OBLIQUE, rate), x) for x in starts]
        print(f"  {rate} steps a second")
        for name, values in (("right", right), ("ours", ours), ("MuJoCo C", soft)):
            mean, spread = np.mean(values, axis=0).ravel(), np.std(values, axis=0).ravel()
            print(f"    {name:<9}" + " ".join(f"{a:7.3f} +- {b:5.3f}" for a, b in zip(mean, spread, strict=True)))
    near = Shot(LINE, lambda v: (jnp.array([0, 0.3]), jnp.append(v, 0)), np.array([0.25]), [1], 0.2)
    print(
        "billiard, 5 cm short of the impact: d(end of the second)/d(speed of the first), right 0, and not 0 if smooth"
    )
    for gap in (GAP, 1e-3, 1e-2):
        slope, ratio = _ours(near, gap), _differences(_run(near, gap), near.x)
        print(f"  gap {gap:g}: {slope.item():.4e}, by differences of the same steps {ratio.item():.4e}")


def elastic(out: pathlib.Path | None) -> None:
    """The same impacts with restitution, at falling gaps: a ball goes back, equal balls exchange their velocities.

    Restitution above 0 has each impact at its time within the step; with 1e-9 what meets stays together.
    """
    back = Shot(WALL, lambda x: (x[:1], -x[1:]), np.array([0.501, 1.0]), [0])
    both = Shot(LINE, lambda x: (x[:2], x[2:]), np.array([0.0, 0.601, 1.0, 0.0]), [0, 1])
    print("bounce, restitution 1 and 0.5: d(end)/d(start, speed), right -e and e seconds")
    _print_by_gap(back, {e: np.array([[-e, e * SECONDS]]) for e in (1.0, 0.5)})
    print("balls, restitution 1: d(ends)/d(x1, x2, v1, v2)")
    _print_by_gap(both, {1.0: np.array([[0.0, 1, 0, 1], [1, 0, 1, 0]])})
    for rate in (RATE, 10 * RATE):
        print(f"billiard, {rate} steps a second: d(x of the second)/d(speed of the first), {PHASES} starts")
        starts, derivatives = jnp.asarray(_starts(rate)), _derivatives(OBLIQUE, rate)
        inelastic = np.asarray(jax.vmap(jax.jacfwd(_struck))(starts))[:, 0, 0]
        for e in (1.0, 1e-9):
            right = (1 + e) * inelastic
            print(f"  restitution {e:g}: right {right[0]:.4f}")
            for gap in GAPS:
                ours = np.asarray(derivatives(gap, e, starts))[:, 0, 0]
                worst = 100 * np.max(np.abs(ours / right - 1))
                print(f"  gap {gap:g}: {ours.mean():.4f} +- {ours.std():.4f}, the worst off by {worst:.2g} %")


def _starts(rate: int) -> np.ndarray:
    """Return speeds, offsets and starts of the billiard, within the way of a step."""
    return np.array([[1.0, 0.1, -0.5 + way / (PHASES * rate)] for way in range(PHASES)])


def _derivatives(shot: Shot, rate: int = RATE) -> Callable[[float, float, jax.Array], jax.Array]:
    """Return the function (gap, restitution, starts) -> derivatives, shape (starts, outputs, len(x))."""
    slopes = jax.jacfwd(lambda gap, e, x: _run(shot, gap, rate, e)(x), argnums=2)
    return jax.jit(jax.vmap(slopes, (None, None, 0)))


def _print_by_gap(shot: Shot, right: dict[float, np.ndarray]) -> None:
    """Print derivatives at all gaps; right: those by restitution."""
    derivatives = _derivatives(shot)
    for e, value in right.items():
        ours = {f"gap {gap:g}": np.asarray(derivatives(gap, e, jnp.asarray(shot.x[None])))[0] for gap in GAPS}
        for name, values in {"right": value, **ours}.items():
            print(f"  {name:<9}" + "; ".join(" ".join(f"{v:8.4f}" for v in row) for row in values))


def _struck(x: jax.Array) -> jax.Array:
    """Return where the second ball of the inelastic billiard ends, shape (2,)."""
    speed, offset, start = x
    sine = -offset / (2 * RADIUS)
    cosine = jnp.sqrt(1 - sine * sine)
    after = SECONDS - (-start - 2 * RADIUS * cosine) / speed
    return speed / 2 * cosine * after * jnp.stack([cosine, sine])


def _compare(shot: Shot, right: np.ndarray) -> None:
    """Print derivatives, ours and C's, and how far ours are from the right ones."""
    ours = _ours(shot, GAP)
    off = np.abs(ours - right).max() / max(np.abs(right).max(), 1.0)
    for name, values in (("right", right), ("ours", ours), ("MuJoCo C", _differences(_in_c(shot), shot.x))):
        print(f"  {name:<9}" + "; ".join(" ".join(f"{v:8.4f}" for v in row) for row in values))
    print(f"  ours off by {100 * off:.2g} %")


def _run(shot: Shot, gap: float, rate: int = RATE, restitution: float = 0.0) -> Callable[[jax.Array], jax.Array]:
    m = mjx.Model.from_xml_string(SCENE.format(h=1 / rate, bodies=shot.bodies))
    m = mjx.with_hard_contact(m, gap, restitution=restitution)
    d, steps = mjx.make_data(m), round(shot.seconds * rate)

    def end(x):
        qpos, qvel = shot.start(x)
        moved = d.replace(qpos=qpos, qvel=qvel)
        return mjx.rollout(m, moved, steps=steps, record=lambda d: d.qpos)[-1][jnp.array(shot.output)]

    return jax.jit(end)


def _ours(shot: Shot, gap: float) -> np.ndarray:
    """Return the derivative of our rollout by reverse mode, shape (outputs, len(x))."""
    return np.asarray(jax.jit(jax.jacrev(_run(shot, gap)))(jnp.asarray(shot.x)))


def _in_c(shot: Shot, rate: int = RATE) -> Callable[[np.ndarray], np.ndarray]:
    model = mujoco.MjModel.from_xml_string(SCENE.format(h=1 / rate, bodies=shot.bodies))

    def end(x):
        data = mujoco.MjData(model)
        data.qpos, data.qvel = (np.asarray(v) for v in shot.start(jnp.asarray(x)))
        for _ in range(round(shot.seconds * rate)):
            mujoco.mj_step(model, data)
        return data.qpos[shot.output].copy()

    return end


def _differences(end: Callable, x: np.ndarray, length: float = 1e-6) -> np.ndarray:
    ways = length * np.eye(x.size)
    columns = [(np.asarray(end(x + way)) - np.asarray(end(x - way))) / (2 * length) for way in ways]
    return np.stack(columns, axis=1)
