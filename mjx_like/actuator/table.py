"""The tables of actuators: a row for each type of transmission, activation dynamics, gain and bias that is evaluated.

What the language says of a type is in its row of the enum.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from mjx_like.actuator import muscle
from mjx_like.constants import MINVAL
from mjx_like.math import safe
from mjx_like.types.enums import BiasType, DynType, GainType

Array = jax.Array


class Motion(NamedTuple):
    """What gains and biases read of each actuator."""

    length: Array  # (n,) [m or rad], with gear
    velocity: Array  # (n,) [m/s or rad/s]
    lengthrange: Array  # (n, 2) [m or rad]
    acc0: Array  # (n,) acceleration from a unit force [m/s^2 or rad/s^2]


class Dynamics(NamedTuple):
    """What the engine must know of a type of activation dynamics.

    kernel: (control, activation, dynprm) -> rate of the activation, elementwise over actuators; None where there is no
    activation, or a controller has its own.
    exponential: whether a step follows the exact solution of a first-order filter, with time constant dynprm[0].
    hook: the field of Hooks that takes the place of the kernel.
    """

    kernel: Callable[[Array, Array, Array], Array] | None = None
    exponential: bool = False
    hook: str = ""


class Law(NamedTuple):
    """What the engine must know of a type of gain or bias.

    kernel: (motion, parameters of shape (n, 10)) -> gain or bias, elementwise over actuators; None where the actuator
    is a controller with a force of its own.
    velocity_dependent: whether the implicit integrators take its derivative in velocity.
    own: whether the kernel takes its own actuators alone, for parameters of others can make it overflow.
    hook, absent: the field of Hooks that takes the place of the kernel, and the value without a hook.
    """

    kernel: Callable[[Motion, Array], Array] | None = None
    velocity_dependent: bool = False
    own: bool = False
    hook: str = ""
    absent: float = 0.0


def _filter(ctrl: Array, act: Array, prm: Array) -> Array:
    return safe.ratio(ctrl - act, jnp.maximum(MINVAL, prm[:, 0]))


def _affine(motion: Motion, prm: Array) -> Array:
    return prm[:, 0] + prm[:, 1] * motion.length + prm[:, 2] * motion.velocity


def _muscle_gain(motion: Motion, prm: Array) -> Array:
    return muscle.gain(motion.length, motion.velocity, motion.lengthrange, motion.acc0, prm)


def _muscle_bias(motion: Motion, prm: Array) -> Array:
    return muscle.bias(motion.length, motion.lengthrange, motion.acc0, prm)


DYNAMICS = {
    DynType.NONE: Dynamics(),
    DynType.INTEGRATOR: Dynamics(lambda ctrl, act, prm: ctrl),
    DynType.FILTER: Dynamics(_filter),
    DynType.FILTEREXACT: Dynamics(_filter, exponential=True),
    DynType.MUSCLE: Dynamics(muscle.dynamics),
    DynType.DCMOTOR: Dynamics(),
    DynType.PID: Dynamics(),
    DynType.USER: Dynamics(hook="act_dyn"),
}
GAINS = {
    GainType.FIXED: Law(lambda motion, prm: prm[:, 0]),
    GainType.AFFINE: Law(_affine, velocity_dependent=True),
    GainType.MUSCLE: Law(_muscle_gain, velocity_dependent=True, own=True),
    GainType.DCMOTOR: Law(velocity_dependent=True),
    GainType.SO3: Law(velocity_dependent=True),
    GainType.PID: Law(),
    GainType.USER: Law(hook="act_gain", absent=1.0),
}
BIASES = {
    BiasType.NONE: Law(lambda motion, prm: jnp.zeros_like(motion.length)),
    BiasType.AFFINE: Law(_affine, velocity_dependent=True),
    BiasType.MUSCLE: Law(_muscle_bias, own=True),
    BiasType.DCMOTOR: Law(),
    BiasType.SO3: Law(),
    BiasType.USER: Law(hook="act_bias", absent=0.0),
}
