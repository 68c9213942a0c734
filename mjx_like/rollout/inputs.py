"""What drives a rollout: controls of each step, or a policy and what it is given of each step."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from mjx_like.errors import InputError, shown
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Array = jax.Array
Policy = Callable[[Data, Any], Array]


def controls(m: Model, d: Data, batch: int | None, given: Any) -> Array:
    """Return controls as an array of the dtype of `d.ctrl`.

    Raises:
      InputError: they are no numbers, or have neither shape (steps, nu) nor (batch, steps, nu).
    """
    shapes = "(steps, nu)" if batch is None else f"(steps, nu) or ({batch}, steps, nu)"
    try:
        ctrl = jnp.asarray(given, d.ctrl.dtype)
    except (TypeError, ValueError):
        raise InputError(
            f"ctrl={shown(given)}: must be an array of numbers of shape {shapes}, with nu={m.nu}"
        ) from None
    if not ctrl.ndim:
        raise InputError(f"ctrl={shown(given)}: must have shape {shapes}; the number of steps is steps={shown(given)}")
    lead = ctrl.shape[:-2]
    if ctrl.ndim < 2 or ctrl.shape[-1] != m.nu or lead not in ((), () if batch is None else (batch,)):
        raise InputError(f"ctrl has shape {ctrl.shape}; it must be {shapes}, with nu={m.nu}")
    return ctrl


def check_policy(policy: Any, ctrl: Any, inputs: Any) -> None:
    """Raise InputError unless `policy` is None or a function of its own, without `ctrl` beside it."""
    if policy is None:
        if inputs is not None:
            raise InputError("inputs= are what a policy is given: give policy=, or ctrl= in place of inputs=")
        return
    if not callable(policy):
        raise InputError(f"policy={shown(policy)}: must be a function (d, inputs) -> ctrl of shape (nu,)")
    if ctrl is not None:
        raise InputError("ctrl= and policy= both say what the controls are: give one of them")


def check_inputs(batch: int | None, inputs: Any) -> set[int]:
    """Return the number of steps that the inputs of a policy have, as a set: empty without inputs.

    Raises:
      InputError: their arrays do not begin with the axes (steps,) or (batch, steps), or do not agree in steps.
    """
    lead = () if batch is None else (batch,)
    shapes = [jnp.shape(x) for x in jax.tree.leaves(inputs)]
    for shape in shapes:
        if len(shape) <= len(lead) or shape[: len(lead)] != lead:
            axes = "(steps, ...)" if batch is None else f"({batch}, steps, ...)"
            raise InputError(f"inputs have an array of shape {shape}; every one must have axes {axes}")
    lengths = {shape[len(lead)] for shape in shapes}
    if len(lengths) > 1:
        raise InputError(f"inputs have {sorted(lengths)} steps: every array must have the same number")
    return lengths


def controls_of(policy: Policy, m: Model, d: Data, inputs: Any) -> Array:
    """Return the controls that a policy sets at one step, shape (nu,).

    Raises:
      InputError: it returns something of another shape.
    """
    ctrl = policy(d, inputs)
    if jnp.shape(ctrl) != (m.nu,):
        raise InputError(f"policy returned shape {jnp.shape(ctrl)}; it must be controls of shape (nu,) = ({m.nu},)")
    return jnp.asarray(ctrl, d.ctrl.dtype)
