"""Hard contact by choice: no penetration and Coulomb friction at the end of every step, with a smoothness in metres."""

import jax

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

    Other spellings are `m.replace(opt=m.opt.replace(contact="hard", gap=...))`, arguments of `Model.from_xml_path`, and
    custom elements in the model file. Here, what is not given has its default also where `m` has hard contact already.

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
    given = {"gap": gap, "slip": slip, "grad_gap": grad_gap, "recovery": recovery}
    return m.replace(opt=m.opt.replace(contact="hard", contact_iterations=iterations, refresh=refresh, **given))


def without_hard_contact(m: Model) -> Model:
    """Return the Model with MuJoCo's own contact, `m.opt.replace(contact="soft")`; make its Data anew."""
    a_model("without_hard_contact", m)
    return m if m.hard is None else m.replace(opt=m.opt.replace(contact="soft"))
