"""Gradients of small tasks whose right answers are known, beside MuJoCo C, MJX, and what others are reported to give.

Run it from the root of the repository: python -m benchmarks.gradients.yardsticks
MuJoCo C gives central differences of its own steps, MJX derivatives by forward mode (it refuses reverse mode with more
than one iteration of its solver); ours are by reverse mode. All in float64. Contact is soft; `benchmarks.dojo`
has what hard contact gives.
"""

import argparse
import time
from collections.abc import Callable
from typing import NamedTuple

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402
import mujoco  # noqa: E402
import numpy as np  # noqa: E402

import mjx_like as mjx  # noqa: E402
from benchmarks.gradients.two_balls import optimal_control  # noqa: E402

RATE = 480  # steps a second
WIDTH = 0.02  # of the smoothed touch: what a ball moves in ten steps [m]
ELASTIC = 'condim="1" solref="-1500 0" solimp=".9999 .9999 .001"'
BOUNCE = f"""
<mujoco><option timestep="{1 / RATE}" gravity="0 0 0"/><worldbody>
<geom type="plane" size="5 5 1" {ELASTIC}/>
<body><joint type="slide" axis="0 0 1"/><geom size=".1" {ELASTIC}/></body></worldbody></mujoco>
"""
BALLS = f"""
<mujoco><option timestep="{1 / RATE}" gravity="0 0 0"/><worldbody>
<body><joint type="slide" axis="1 0 0"/><geom size=".1" {ELASTIC}/></body>
<body><joint type="slide" axis="1 0 0"/><geom size=".1" {ELASTIC}/></body></worldbody></mujoco>
"""
TOSS = """
<mujoco><option timestep="{}" tolerance="1e-12" iterations="50"/><worldbody><geom type="plane" size="5 5 1"/>
<body><freejoint/><geom type="box" size=".05 .05 .05" mass=".4"/></body></worldbody></mujoco>
"""
TOSSED = np.array([0, 0, 0.12, 0.94, 0.2, 0.15, 0.1, 0.3, 0.5, 0, 2, -3, 1])  # qpos, then all velocities but vz


class Task(NamedTuple):
    """A rollout: qpos[output] at its end as a function of x, which `start` makes qpos and qvel from."""

    xml: str
    start: Callable
    x: np.ndarray
    steps: int
    output: int


def _split(x):
    return x[: x.shape[0] // 2], x[x.shape[0] // 2 :]


def _toss(v):
    return jnp.asarray(TOSSED[:7]), jnp.concatenate([jnp.asarray(TOSSED[7:9]), v, jnp.asarray(TOSSED[10:])])


def _tossed(timestep: float) -> Task:
    return Task(TOSS.format(timestep), _toss, np.array([0.5]), round(0.4 / timestep), 1)


BOUNCED = Task(BOUNCE, lambda y: (y, -jnp.ones(1)), np.array([0.501]), RATE, 0)
STRUCK = Task(BALLS, _split, np.array([0.0, 0.601, 1.0, 0.0]), RATE, 1)
NEAR = Task(BALLS, lambda v: (jnp.array([0, 0.3]), jnp.append(v, 0)), np.array([0.25]), RATE // 5, 1)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-mjx", action="store_true", help="leave out MJX, whose programs take long to compile")
    parser.add_argument("--only", default="", help="part of the names of the rows to compute")
    args = parser.parse_args()
    _line("task", "right", "ours", "MuJoCo C", "MJX", "as reported")

    def row(name: str, right: str, task: Task, reported: str, soften=lambda m: m, peers=True) -> None:
        if args.only not in name:
            return
        others = [_differences(task), "-" if args.no_mjx else _mjx(task)] if peers else ["", ""]
        _line(name, right, _ours(task, soften), *others, reported)

    def smooth(m):
        return mjx.with_smoothing(m, WIDTH)

    row("bounce, dh/dy0", "-1", BOUNCED, "+1 without time of impact")
    row("bounce, smoothed touch", "-1", BOUNCED, "", smooth, peers=False)
    _line("bounce, hard", "-1", "not built", "", "", "")
    row("balls, dxf/d(x1, x2, v0, u0)", "1 0 1 0", STRUCK, "Nimble 0.75 0.25 0.91 0.08")
    row("balls, smoothed touch", "1 0 1 0", STRUCK, "", smooth, peers=False)
    _line("balls, hard", "1 0 1 0", "not built", "", "", "")
    if args.only in "two balls, optimal cost":
        _line("two balls, optimal cost", "1.3965", optimal_control(), "", "", "DiffTaichi 1.3958, Warp 1.4302")
    for timestep in (1e-2, 1e-3, 1e-4):
        row(f"cube toss, dy/dvz, h = {timestep:g}", "", _tossed(timestep), "another scene: 0.172")
    row("billiard before contact", "0", NEAR, "MJX 0")
    row(
        "billiard, felt from 10 cm",
        "not 0",
        NEAR,
        "",
        lambda m: mjx.with_smoothing(m, 1e-3, reach=0.1, strength=0.1),
        peers=False,
    )
    for name in ("half_cheetah", "humanoid"):
        if args.only not in f"step Jacobian, {name}":
            continue
        ours, theirs = _jacobian_time(f"models/{name}.xml")
        _line(f"step Jacobian, {name}", "", f"{1e3 * ours:.2f} ms", f"{1e3 * theirs:.2f} ms", "", "")


def _line(task: str, right: str, *columns) -> None:
    cells = [x if isinstance(x, str) else " ".join(f"{v:.4g}" for v in np.atleast_1d(x)) for x in columns]
    print(f"{task:30s} {right:8s}" + "".join(f" | {c:27s}" for c in cells), flush=True)


def _ours(task: Task, soften: Callable) -> np.ndarray:
    m = soften(mjx.Model.from_xml_string(task.xml))

    def end(x):
        qpos, qvel = task.start(x)
        d = mjx.make_data(m).replace(qpos=qpos, qvel=qvel)
        return mjx.rollout(m, d, steps=task.steps, record=lambda d: d.qpos)[-1, task.output]

    return jax.jit(jax.grad(end))(jnp.asarray(task.x))


def _mjx(task: Task) -> np.ndarray | str:
    from mujoco import mjx as peer

    try:
        m = peer.put_model(mujoco.MjModel.from_xml_string(task.xml))

        def end(x):
            qpos, qvel = task.start(x)
            d = peer.make_data(m).replace(qpos=qpos, qvel=qvel)
            return jax.lax.fori_loop(0, task.steps, lambda _, d: peer.step(m, d), d).qpos[task.output]

        return jax.jit(jax.jacfwd(end))(jnp.asarray(task.x))
    except Exception as error:  # a peer that cannot: its reason belongs in the table
        return f"{type(error).__name__}: {error}"[:27]


def _differences(task: Task, length: float = 1e-6) -> np.ndarray:
    model = mujoco.MjModel.from_xml_string(task.xml)

    def end(x):
        data = mujoco.MjData(model)
        data.qpos, data.qvel = (np.asarray(v) for v in task.start(jnp.asarray(x)))
        for _ in range(task.steps):
            mujoco.mj_step(model, data)
        return data.qpos[task.output]

    ways = length * np.eye(task.x.size)
    return np.array([(end(task.x + way) - end(task.x - way)) / (2 * length) for way in ways])


def _jacobian_time(path: str) -> tuple[float, float]:
    """Return the seconds that A and B of one step take, ours and by central differences."""
    m, model = mjx.Model.from_xml_path(path), mujoco.MjModel.from_xml_path(path)
    jacobian = jax.jit(lambda d: mjx.transition_jacobian(m, d))
    d, data, nx = mjx.make_data(m), mujoco.MjData(model), 2 * model.nv + model.na
    out = np.zeros((nx, nx)), np.zeros((nx, model.nu))
    return (
        _best(lambda: jax.block_until_ready(jacobian(d))),
        _best(lambda: mujoco.mjd_transitionFD(model, data, 1e-6, True, *out, None, None)),
    )


def _best(function, repeats: int = 20) -> float:
    """Return the least processor time of several calls, the first left out."""
    times = []
    for _ in range(repeats + 1):
        begin = time.process_time()
        function()
        times.append(time.process_time() - begin)
    return min(times[1:])


if __name__ == "__main__":
    main()
