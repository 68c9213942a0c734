"""Potential and kinetic energy."""

import jax.numpy as jnp
import numpy as np

from mjx_like.math.linalg import matmul
from mjx_like.math.select import take
from mjx_like.smooth.crb import mul_m
from mjx_like.tree import spring
from mjx_like.types.data import Data
from mjx_like.types.enums import DisableBit
from mjx_like.types.model import Model


def energy_pos(m: Model, d: Data) -> Data:
    """Return d with the potential energy of gravity and springs.

    Reads qpos, plastic, xipos, ten_length. Writes energy[0].  Source: mj_energyPos.
    """
    energy = jnp.zeros((), d.qpos.dtype)
    if not m.topology.disabled(DisableBit.GRAVITY):
        energy = energy - jnp.sum(m.body_mass * matmul(d.xipos, m.opt.gravity))
    if not m.topology.disabled(DisableBit.SPRING):
        if (m.has["jnt_stiffness"] | m.has["jnt_stiffnesspoly"]).any():
            energy = energy + _joint_springs(m, d)
        if (m.has["tendon_stiffness"] | m.has["tendon_stiffnesspoly"]).any():
            stretch = spring.tendon_extension(m, d)
            energy = energy + jnp.sum(spring.polynomial_energy(m.tendon_stiffness, m.tendon_stiffnesspoly, stretch))
    return d.replace(energy=jnp.stack([energy, d.energy[1]]))


def energy_vel(m: Model, d: Data) -> Data:
    """Return d with the kinetic energy.

    Reads M, qvel. Writes energy[1].  Source: mj_energyVel.
    """
    kinetic = 0.5 * jnp.sum(d.qvel * mul_m(m, d, d.qvel))
    return d.replace(energy=jnp.stack([d.energy[0], kinetic]))


def _joint_springs(m: Model, d: Data):
    extension = spring.joint_extension(m, spring.joint_displacement(m, d))
    first = np.flatnonzero(spring.block_starts(m))
    joint = m.dof_jntid[first]
    energy = spring.polynomial_energy(
        take(m.jnt_stiffness, joint), take(m.jnt_stiffnesspoly, joint), take(extension, first)
    )
    return jnp.sum(energy)
