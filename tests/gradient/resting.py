"""States at rest and at the touch, found by MuJoCo."""

import mujoco
import numpy as np


def resting_and_touching(mj):
    """Return qpos after 300 steps, and on both sides of the first change of the number of contacts, next to it."""
    data, probe, sides = mujoco.MjData(mj), mujoco.MjData(mj), None
    mujoco.mj_forward(mj, data)
    for _ in range(300):
        before, count = data.qpos.copy(), data.ncon
        mujoco.mj_step(mj, data)
        after = data.qpos.copy()
        mujoco.mj_forward(mj, data)
        if sides is None and data.ncon != count:
            sides = before, after, count
    if sides is None:
        return data.qpos.copy(), data.qpos.copy(), data.qpos.copy()
    low, high, count = sides
    way = np.zeros(mj.nv)
    mujoco.mj_differentiatePos(mj, way, 1.0, low, high)
    ends = [0.0, 1.0]

    def at(t):
        qpos = low.copy()
        mujoco.mj_integratePos(mj, qpos, way, t)
        return qpos

    for _ in range(60):
        middle = 0.5 * sum(ends)
        probe.qpos[:] = at(middle)
        mujoco.mj_forward(mj, probe)
        ends[int(probe.ncon != count)] = middle
    return data.qpos.copy(), at(ends[0]), at(ends[1])
