"""Hard contact by choice: no penetration and Coulomb friction at the end of every step, with a smoothness in metres."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.arguments import whole_number
from mjx_like.errors import InputError, UnsupportedError, shown
from mjx_like.types.enums import ConeType, EnableBit, IntegratorType
from mjx_like.types.hard import HardContact
from mjx_like.types.model import Model
from mjx_like.worlds import a_model

Array = jax.Array


def with_hard_contact(
    m: Model,
    gap: Array | float = 1e-5,
    slip: Array | float | None = None,
    *,
    grad_gap: Array | float | None = None,
    recovery: Array | float = 0.5,
    iterations: int = 30,
    refresh: int = 1,
) -> Model:
    """Return the Model with hard contact in place of MuJoCo's soft one; make its Data anew.

    Contacts, limits and friction loss hold at the end of each step: a body at rest stands `gap` above the ground, and
    a contact that sticks creeps at about `slip`, at any mass and time step. Equalities stay MuJoCo's. The choice of
    cone and solver, `solref` and `solimp` of contacts and limits, and noslip are without meaning; RK4 steps as Euler.

    Args:
      m: the model.
      gap: smoothness of contact: distance at which the weight of a body is carried [m]; of rotations, over the mean
        size of the model [rad].
      slip: smoothness of friction: speed at which half the bound is reached, about [m/s]; None: ten times the gap per
        second.
      grad_gap: gap, and slip in proportion, of the derivatives alone [m]. Values and derivatives then disagree, and
        the sign of a derivative can be wrong. None: the gap itself.
      recovery: speed at which bodies that begin inside one another part, at the most [m/s].
      iterations: most steps of each solve.
      refresh: how often contacts are found again where the step ends; 0 for the distances at its start, which a fast
        rotation leaves.

    Raises:
      InputError: a length, speed or number that is not positive; a model with smoothing.
      UnsupportedError: the integrator `discrete`, adhesion, surface velocity, or the flags `speculative` and `fwdinv`.
    """
    a_model("with_hard_contact", m)
    slip = 10 * gap if slip is None else slip
    given = {"gap": gap, "slip": slip, "recovery": recovery, "grad_gap": gap if grad_gap is None else grad_gap}
    for name, value in given.items():
        known = not isinstance(value, jax.core.Tracer)
        if known and not (np.asarray(value).dtype.kind in "biuf" and np.all(np.asarray(value) > 0)):
            raise InputError(f"with_hard_contact: {name}={shown(value)} must be above 0")
    if m.smoothing is not None:
        raise InputError("with_hard_contact: the model has smoothing, of soft contact: mjx.without_smoothing(m) first")
    _refuse(m)
    dtype = m.qpos0.dtype
    hard = HardContact(
        iterations=whole_number("iterations", iterations, least=1),
        refresh=whole_number("refresh", refresh, least=0),
        soft_cone=m.flags.cone if m.hard is None else m.hard.soft_cone,
        **{name: jnp.asarray(value, dtype) for name, value in given.items()},
        biased=grad_gap is not None,
    )
    return m.replace(opt=m.opt.replace(cone=ConeType.ELLIPTIC)).replace(hard=hard)


def without_hard_contact(m: Model) -> Model:
    """Return the Model with MuJoCo's own contact; make its Data anew."""
    if m.hard is None:
        return m
    return m.replace(opt=m.opt.replace(cone=m.hard.soft_cone)).replace(hard=None)


def _refuse(m: Model) -> None:
    """Raise for what hard contact does not do."""
    found = {
        "integrator discrete: take implicitfast": m.flags.integrator == IntegratorType.DISCRETE,
        "adhesion": m.topology.adhesive,
        "geom_surfacevel": m.has["geom_surfacevel"].any(),
        "flag speculative": m.topology.enabled(EnableBit.SPECULATIVE),
        "flag fwdinv": m.topology.enabled(EnableBit.FWDINV),
    }
    for name in (name for name, there in found.items() if there):
        raise UnsupportedError(f"with_hard_contact: hard contact has no {name}")
