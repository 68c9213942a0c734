"""Row tumbling: two bodies that tumble onto a floor or a table and onto each other, and how deep they go in."""

import itertools
import pathlib

import jax
import jax.numpy as jnp
import mujoco
import numpy as np

import mjx_like as mjx

WORLDS, STEPS, H = 32, 200, 0.004
REFRESHES = (1, 2)
DEEP = 1e-4  # m
GEOMS = {
    "box": 'type="box" size=".1 .08 .06"',
    "cylinder": 'type="cylinder" size=".08 .06"',
    "capsule": 'type="capsule" size=".05 .08"',
    "hull": 'type="mesh" mesh="hull"',
}
ON_TABLE = (("table", "box"), ("table", "cylinder"), ("table", "capsule"), ("table", "hull"))
BODIES = tuple(itertools.combinations_with_replacement(GEOMS, 2))


def tumbling(out: pathlib.Path | None) -> None:
    """Random orientations and spins; the depth is MuJoCo's distance of the two geoms at the end of each step."""
    print(
        f"tumbling: {WORLDS} worlds, {STEPS} steps of {H} s: deepest at a step's end [mm], share of steps beyond"
        f" {1e3 * DEEP:g} mm, steps unconverged, by refresh; MuJoCo C"
    )
    for pair in (*ON_TABLE, *BODIES):
        xml, found = scene(*pair), []
        soft = mjx.Model.from_xml_string(xml)
        for refresh in REFRESHES:
            qpos, short = _ours(mjx.with_hard_contact(soft, refresh=refresh))
            found.append(_said(_depths(xml, qpos)) + f", {short}")
        found.append("MuJoCo C " + _said(_depths(xml, _in_c(xml))))
        print(f"  {pair[0]:<8} {pair[1]:<8} " + "   ".join(found), flush=True)


def scene(first: str, second: str) -> str:
    """Return a model of two bodies over a floor, or of one over a table."""
    points = np.random.default_rng(1).normal(size=(12, 3))
    points *= np.array([0.1, 0.08, 0.06]) / np.linalg.norm(points, axis=1, keepdims=True)
    vertices = " ".join(f"{x:.4f}" for x in points.ravel())
    if first == "table":
        below = '<geom name="one" type="box" pos="0 0 -.1" size="2 2 .1"/>'
    else:
        below = f"""<geom type="plane" size="5 5 .1"/>
          <body pos="0 0 .1"><freejoint/><geom name="one" {GEOMS[first]}/></body>"""
    return f"""<mujoco><option timestep="{H}"/><asset><mesh name="hull" vertex="{vertices}"/></asset><worldbody>
      {below}<body pos="0 0 .4"><freejoint/><geom name="two" {GEOMS[second]}/></body></worldbody></mujoco>"""


def _starts(model: mjx.Model | mujoco.MjModel) -> tuple[np.ndarray, np.ndarray]:
    """Return positions and velocities of all worlds."""
    rng, bodies = np.random.default_rng(0), model.nv // 6
    qpos, qvel = np.tile(np.asarray(model.qpos0), (WORLDS, 1)), np.zeros((WORLDS, model.nv))
    for body in range(bodies):
        quat = rng.normal(size=(WORLDS, 4))
        qpos[:, 7 * body + 3 : 7 * body + 7] = quat / np.linalg.norm(quat, axis=1, keepdims=True)
    last = 6 * (bodies - 1)
    qvel[:, last + 3 :], qvel[:, last : last + 2] = 3 * rng.normal(size=(WORLDS, 3)), 0.3 * rng.normal(size=(WORLDS, 2))
    return qpos, qvel


def _ours(m: mjx.Model) -> tuple[np.ndarray, int]:
    """Return positions after each step, and how many steps were unconverged."""

    @jax.jit
    @jax.vmap
    def path(qpos, qvel):
        def go(d, _):
            d = mjx.step(m, d)
            return d, d.qpos

        return jax.lax.scan(go, mjx.make_data(m).replace(qpos=qpos, qvel=qvel), None, STEPS)

    end, qpos = path(*(jnp.asarray(x) for x in _starts(m)))
    return np.asarray(qpos), int(end.unconverged.sum())


def _in_c(xml: str) -> np.ndarray:
    model = mujoco.MjModel.from_xml_string(xml)
    data, paths = mujoco.MjData(model), []
    for qpos, qvel in zip(*_starts(model), strict=True):
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = qpos, qvel
        path = []
        for _ in range(STEPS):
            mujoco.mj_step(model, data)
            path.append(data.qpos.copy())
        paths.append(path)
    return np.array(paths)


def _depths(xml: str, qpos: np.ndarray) -> np.ndarray:
    """Return how deep both geoms are in one another, by MuJoCo."""
    model = mujoco.MjModel.from_xml_string(xml)
    data, one, two = mujoco.MjData(model), model.geom("one").id, model.geom("two").id
    found = []
    for own in qpos.reshape(-1, model.nq):
        data.qpos[:] = own
        mujoco.mj_kinematics(model, data)
        found.append(max(-mujoco.mj_geomDistance(model, data, one, two, 1e-2, None), 0.0))
    return np.array(found)


def _said(depth: np.ndarray) -> str:
    return f"{1e3 * depth.max():.3f}, {100 * (depth > DEEP).mean():.2f} %"
