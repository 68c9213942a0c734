"""Gradients of small tasks whose right answers are known, beside what others are reported to give.

Run it from the root of the repository: python -m benchmarks.gradients.yardsticks
"""

import time

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import mjx_like as mjx  # noqa: E402

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


def main() -> None:
    """Print the table."""
    print("task                                   right          ours          others, as reported")
    _line("one bounce, dh/dy0", "-1", _bounce(0.0), "+1 without time of impact")
    _line("one bounce, smoothed touch", "-1", _bounce(WIDTH), "")
    _line("balls, dxf/d(x1, x2, v0, u0)", "1 0 1 0", _balls(0.0), "Nimble 0.75 0.25 0.91 0.08")
    _line("balls, smoothed touch", "1 0 1 0", _balls(WIDTH), "")
    exact, far = _billiard(False), _billiard(True)
    _line("billiard before contact, exact", "0", exact, "MJX 0")
    _line("billiard before contact, smoothed", "not 0", far, "MJX 0")
    for name in ("half_cheetah", "humanoid"):
        ours, theirs = _jacobian_time(f"models/{name}.xml")
        print(f"step Jacobian of {name}: {1e3 * ours:.2f} ms, central differences by MuJoCo C {1e3 * theirs:.2f} ms")


def _line(task: str, right: str, ours, others: str) -> None:
    values = " ".join(f"{x:.4f}" for x in np.atleast_1d(ours))
    print(f"{task:38s} {right:8s} {values:>30s}   {others}")


def _end(m, qpos, qvel, seconds: float):
    d = mjx.make_data(m).replace(qpos=qpos, qvel=qvel)
    return mjx.rollout(m, d, steps=round(seconds * RATE), record=lambda d: d.qpos)[-1]


def _bounce(width: float):
    """Return how the height 1 s after a start at 0.5 m with 1 m/s, after an elastic bounce, follows that start."""
    m = mjx.with_smoothing(mjx.Model.from_xml_string(BOUNCE), width)
    return jax.jit(jax.grad(lambda y: _end(m, jnp.array([y]), jnp.array([-1.0]), 1.0)[0]))(0.5)


def _balls(width: float):
    """Return how the struck ball's place after 1 s follows the places and velocities of both."""
    m = mjx.with_smoothing(mjx.Model.from_xml_string(BALLS), width)

    def end(s):
        return _end(m, s[:2], s[2:], 1.0)[1]

    return jax.jit(jax.grad(end))(jnp.array([0.0, 0.6, 1.0, 0.0]))


def _billiard(smoothed: bool):
    """Return how a ball's place follows the velocity of one that stops 5 cm short of it."""
    m = mjx.Model.from_xml_string(BALLS)
    m = mjx.with_smoothing(m, 1e-3, reach=0.1, strength=1e-3) if smoothed else m

    def end(v):
        return _end(m, jnp.array([0.0, 0.3]), jnp.stack([v, jnp.zeros(())]), 0.2)[1]

    return jax.jit(jax.grad(end))(0.25)


def _jacobian_time(path: str) -> tuple[float, float]:
    """Return the seconds that A and B of one step take, ours and by central differences."""
    import mujoco

    m, mj = mjx.Model.from_xml_path(path), mujoco.MjModel.from_xml_path(path)
    jacobian = jax.jit(lambda d: mjx.transition_jacobian(m, d))
    d, data, nx = mjx.make_data(m), mujoco.MjData(mj), 2 * mj.nv + mj.na
    out = np.zeros((nx, nx)), np.zeros((nx, mj.nu))
    return (
        _best(lambda: jax.block_until_ready(jacobian(d))),
        _best(lambda: mujoco.mjd_transitionFD(mj, data, 1e-6, True, *out, None, None)),
    )


def _best(function, repeats: int = 20) -> float:
    times = []
    for _ in range(repeats + 1):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return min(times[1:])


if __name__ == "__main__":
    main()
