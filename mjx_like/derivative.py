"""Jacobians of a step and of inverse dynamics, on the tangent space of the state."""

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.actuator.stage import fwd_actuation
from mjx_like.errors import InputError, shown
from mjx_like.integrator.position import differentiate_pos, integrate_pos
from mjx_like.inverse import inverse
from mjx_like.smooth.crb import full_m
from mjx_like.step import step
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.worlds import one_world

Array = jax.Array


class InverseJacobian(NamedTuple):
    """Jacobians of qfrc_inverse (f), sensordata (s) and M by position, velocity and acceleration; None if not asked."""

    DfDq: Array  # (nv, nv)
    DfDv: Array
    DfDa: Array
    DsDq: Array | None = None  # (nsensordata, nv)
    DsDv: Array | None = None
    DsDa: Array | None = None
    DmDq: Array | None = None  # (nv, nv, nv): M, then the direction of the position


def transition_jacobian(
    m: Model, d: Data, *, sensors: bool = False, difference: float | None = None
) -> tuple[Array, ...]:
    """Return the linear model of one step: dx' = A dx + B du, and with `sensors` ds = C dx + D du.

    A small motion of the state, dx, has nv + nv + na components: position in the tangent space (a rotation is a
    rotation vector in the body's frame), velocity, activation. All integrators are allowed.

    Args:
      m: the model.
      d: one world: map over a batch with `jax.vmap`.
      sensors: whether to return C and D too.
      difference: None for exact derivatives by forward mode; else the length of central differences. Forward mode is
        the faster.

    Returns:
      A, shape (2 nv + na, 2 nv + na), B, (2 nv + na, nu), and C, (nsensordata, 2 nv + na), D, (nsensordata, nu).

    Raises:
      InputError: `d` is not one world of `m`, or a difference that is no positive number.
    Source: mjd_transitionFD.
    """
    one_world("transition_jacobian", m, d)
    _check_difference(difference)
    center = jax.lax.stop_gradient(step(m, d).qpos)

    def stepped(name: str, x: Array) -> Array:
        inputs = name == "inputs"
        end = step(m, _moved(m, d, act=x[: m.na], ctrl=x[m.na :]) if inputs else _moved(m, d, **{name: x}))
        read = [end.sensordata] if sensors else []
        return jnp.concatenate([differentiate_pos(m, center, end.qpos), end.qvel, end.act, *read])

    nx = 2 * m.nv + m.na
    sizes = {"qpos": m.nv, "qvel": m.nv, "inputs": m.na + m.nu}
    whole = _jacobian(stepped, sizes, d.qpos.dtype, difference)
    blocks = (whole[:nx, :nx], whole[:nx, nx:], whole[nx:, :nx], whole[nx:, nx:])
    return blocks if sensors else blocks[:2]


def inverse_jacobian(
    m: Model,
    d: Data,
    *,
    actuation: bool = False,
    sensors: bool = False,
    inertia: bool = False,
    difference: float | None = None,
) -> InverseJacobian:
    """Return the derivatives of inverse dynamics at the position, velocity and acceleration of `d`.

    Args:
      m: the model.
      d: one world: map over a batch with `jax.vmap`.
      actuation: whether to take the actuators' force off the force that inverse dynamics asks for.
      sensors: whether to return the derivatives of `sensordata` too.
      inertia: whether to return those of the inertia matrix.
      difference: None for exact derivatives by forward mode; else the length of central differences.

    Raises:
      InputError: as `transition_jacobian`.
    Source: mjd_inverseFD.
    """
    one_world("inverse_jacobian", m, d)
    _check_difference(difference)

    def explained(name: str, x: Array) -> Array:
        end = inverse(m, _moved(m, d, **{name: x}))
        force = end.qfrc_inverse - fwd_actuation(m, end).qfrc_actuator if actuation else end.qfrc_inverse
        read = [end.sensordata] if sensors else []
        return jnp.concatenate([force, *read, full_m(m, end).ravel()] if inertia else [force, *read])

    nv = m.nv
    whole = _jacobian(explained, {"qpos": nv, "qvel": nv, "qacc": nv}, d.qpos.dtype, difference)
    force, rest = jnp.split(whole[:nv], 3, axis=1), whole[nv:]
    read = jnp.split(rest[: m.nsensordata], 3, axis=1) if sensors else (None, None, None)
    mass = rest[m.nsensordata * sensors :, :nv].reshape(nv, nv, nv) if inertia else None
    return InverseJacobian(*force, *read, mass)


def _check_difference(difference: float | None) -> None:
    if difference is None or isinstance(difference, jax.core.Tracer):
        return
    if not (np.isscalar(difference) or np.ndim(difference) == 0) or isinstance(difference, str) or not difference > 0:
        raise InputError(f"difference={shown(difference)}: must be a positive length, or None for exact derivatives")


def _moved(m: Model, d: Data, **changes: Array) -> Data:
    """Return `d` with changes added to the named fields; that of qpos is one in the tangent space, shape (nv,)."""
    fields = {name: getattr(d, name) + x for name, x in changes.items() if name != "qpos"}
    if "qpos" in changes:
        fields["qpos"] = integrate_pos(m, d.qpos, changes["qpos"], 1.0)
    return d.replace(**fields)


def _jacobian(function: Callable[[str, Array], Array], sizes: dict[str, int], dtype, difference: float | None) -> Array:
    """Return the Jacobian by parts of the input at zero, shape (outputs, inputs).

    function: of a part's name and change. Each part for itself: what depends on position alone has no derivative by
    velocities and controls, and none is computed.
    """

    def part(name: str, size: int) -> Array:
        change, one = jnp.zeros(size, dtype), functools.partial(function, name)
        if difference is None:
            return jax.jacfwd(one)(change)
        ways = difference * jnp.eye(size, dtype=dtype)
        return (jax.vmap(one)(ways) - jax.vmap(one)(-ways)).T / (2 * difference)

    if any(sizes.values()):
        return jnp.concatenate([part(name, size) for name, size in sizes.items() if size], axis=1)
    nothing = jax.ShapeDtypeStruct((0,), dtype)
    return jnp.zeros((*jax.eval_shape(functools.partial(function, next(iter(sizes))), nothing).shape, 0), dtype)
