"""Rows slide, drift and rest: where bodies under friction come to rest, and how high they stand there."""

import pathlib

import jax
import jax.numpy as jnp
import mujoco
import numpy as np

import mjx_like as mjx

G = 9.81
MU = 0.2
POINT = """<mujoco><option timestep="{h}" integrator="implicitfast" cone="elliptic"/><worldbody>
<geom type="plane" size="50 50 1" friction="0.2 0.01 0.001"/>
<body pos="0 0 .1"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
<geom size=".1" mass="1" friction="0.2 .01 .001"/></body></worldbody></mujoco>"""
BLOCK = """<mujoco><option timestep="0.01" integrator="implicitfast" cone="{cone}"/><worldbody>
<geom type="plane" size="50 50 1" friction="0.25 0.01 0.001"/>
<body pos="0 0 .5"><freejoint/><geom type="box" size=".5 .5 .5" mass="1" friction="0.25 .01 .001"/></body>
</worldbody></mujoco>"""


def slide(out: pathlib.Path | None) -> None:
    """A point falls from z0 at 2 m/s and slides to rest: where it stops moves by mu for each metre of z0."""
    print(f"drop and slide: dx/dz0, right {MU}; mean and deviation over 21 heights from 0.5 to 0.7 m")
    heights = np.linspace(0.5, 0.7, 21)
    for h in (0.1, 0.01, 0.001):
        steps = int(round(2.5 / h))
        m = mjx.with_hard_contact(mjx.Model.from_xml_string(POINT.format(h=h)))
        d = mjx.make_data(m)

        def stop(z, m=m, d=d, steps=steps):
            start = d.replace(qpos=jnp.stack([jnp.zeros_like(z), z]), qvel=jnp.array([2.0, 0.0]))
            end, _ = jax.lax.scan(lambda d, _: (mjx.step(m, d), None), start, None, steps)
            return end.qpos[0], end.unconverged

        slopes, lost = jax.jit(jax.vmap(jax.jacfwd(stop, has_aux=True)))(jnp.asarray(heights))
        soft = [_stop_in_c(h, z, steps) for z in heights]
        print(
            f"  h = {h:<6} ours {np.mean(slopes):.4f} +- {np.std(slopes):.4f} (unconverged {int(lost.sum())})"
            f"   MuJoCo C by differences {np.mean(soft):.3f} +- {np.std(soft):.3f}"
        )


def _stop_in_c(h: float, z: float, steps: int) -> float:
    model = mujoco.MjModel.from_xml_string(POINT.format(h=h))
    ends = []
    for shift in (-1e-6, 1e-6):
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = (0, z + shift), (2, 0)
        for _ in range(steps):
            mujoco.mj_step(model, data)
        ends.append(data.qpos[0])
    return (ends[1] - ends[0]) / 2e-6


def drift(out: pathlib.Path | None) -> None:
    """A block thrown at (4, 0.8, 0) slides in a line to where Coulomb says."""
    speed = np.array([4.0, 0.8, 0.0])
    v = np.linalg.norm(speed)
    right = v * v / (0.5 * G) - v * 0.005
    print(f"friction drift, 3 s at h = 0.01: lateral 0, yaw 0, travel v^2/(2 mu g) - v h/2 = {right:.4f} m")
    m = mjx.with_hard_contact(mjx.Model.from_xml_string(BLOCK.format(cone="elliptic")))
    d, step = mjx.make_data(m), jax.jit(mjx.step)
    d = d.replace(qvel=d.qvel.at[:3].set(speed))
    for _ in range(300):
        d = step(m, d)
    _report("ours", np.asarray(d.qpos), speed / v)
    for cone in ("elliptic", "pyramidal"):
        model = mujoco.MjModel.from_xml_string(BLOCK.format(cone=cone))
        data = mujoco.MjData(model)
        data.qvel[:3] = speed
        for _ in range(300):
            mujoco.mj_step(model, data)
        _report(f"MuJoCo C {cone}", data.qpos, speed / v)


def _report(name: str, qpos: np.ndarray, along: np.ndarray) -> None:
    way = qpos[:2] @ along[:2]
    lateral = abs(qpos[0] * along[1] - qpos[1] * along[0])
    print(f"  {name:<18} lateral {lateral:.2e} m, yaw {np.rad2deg(2 * abs(qpos[6])):.2e} degrees, travel {way:.4f} m")


def rest(out: pathlib.Path | None) -> None:
    """A point at rest stands its gap above the floor, at any time step."""
    print("height of a point at rest [m], 2 s")
    for gap in (1e-3, 1e-4, 1e-5):
        heights = []
        for h in (0.1, 0.01, 0.001):
            m = mjx.with_hard_contact(mjx.Model.from_xml_string(POINT.format(h=h)), gap)
            end, _ = jax.jit(
                lambda d, m=m, h=h: jax.lax.scan(lambda d, _: (mjx.step(m, d), None), d, None, int(round(2 / h)))
            )(mjx.make_data(m))
            heights.append(float(end.qpos[1]))
        print(f"  gap {gap:g}: " + ", ".join(f"{x:.4e}" for x in heights) + " at h = 0.1, 0.01, 0.001")
    model = mujoco.MjModel.from_xml_string(POINT.format(h=0.001))
    data = mujoco.MjData(model)
    for _ in range(2000):
        mujoco.mj_step(model, data)
    print(f"  MuJoCo C: {data.qpos[1]:.4e} at h = 0.001")
