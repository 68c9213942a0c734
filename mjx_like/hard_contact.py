"""Hard contact by choice: no penetration and Coulomb friction at the end of every step, with a smoothness in metres."""

import jax
import numpy as np

from mjx_like.arguments import whole_number
from mjx_like.errors import InputError, shown
from mjx_like.types.enums import ConeType, SolverType
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
    restitution: Array | float = 0.0,
    rebound_speed: Array | float = 0.01,
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
      recovery: speed at which bodies that begin inside one another part, at the most [m/s]. Mocap bodies have no
        velocity and push at no more than this: give more than theirs.
      iterations: most steps of each solve.
      refresh: how often contacts are found again where the step ends; 0 for the distances at its start, which a fast
        rotation leaves.
      restitution: speed at which bodies part after an impact, over that at which they met, by Newton's law; in [0, 1].
        With 0 there is no such law, and bodies that meet stay together.
      rebound_speed: contacts that approach slower than this, or than what gravity adds in a step, do not rebound
        [m/s]; above twice that they do so wholly.

    Raises:
      InputError: a length, speed or number that is not positive; a restitution beyond 0 to 1; a model with smoothing.
      UnsupportedError: the integrator `discrete`, or the flags `speculative` and `fwdinv`.
    """
    a_model("with_hard_contact", m)
    given = {"gap": gap, "slip": slip, "grad_gap": grad_gap, "recovery": recovery}
    given |= {"restitution": restitution, "rebound_speed": rebound_speed}
    return m.replace(opt=m.opt.replace(contact="hard", contact_iterations=iterations, refresh=refresh, **given))


def without_hard_contact(m: Model) -> Model:
    """Return the Model with MuJoCo's own contact, `m.opt.replace(contact="soft")`; make its Data anew."""
    a_model("without_hard_contact", m)
    return m if m.hard is None else m.replace(opt=m.opt.replace(contact="soft"))


def anneal_contact(m: Model, start: float = 1e-2, end: float | None = None, stages: int = 7) -> tuple[Model, ...]:
    """Return Models with hard contact from smooth to sharp: `stages` of them, whose gaps fall in equal ratios.

    For an optimisation that begins where contacts act from a distance and ends at those of the last Model. All have one
    structure: a compiled function that takes the Model as an argument takes each, without compiling anew, and so does
    one Data, made of any. Slip is ten times each gap a second unless it was given; other options are those of `m`.

    Args:
      m: the model, with soft or hard contact.
      start: the first gap [m].
      end: the last gap [m]; None for that of `m`, 1e-5 if its contact is soft.
      stages: number of Models; 1 for the last alone.

    Raises:
      InputError: a gap that is not positive, a last one above the first, or no stage; else as `with_hard_contact`.
      UnsupportedError: what hard contact does not do.
    """
    a_model("anneal_contact", m)
    hard = m.replace(opt=m.opt.replace(contact="hard"))
    end = hard.opt.gap if end is None else end
    stages = whole_number("stages", stages, least=1)
    for name, gap in (("start", start), ("end", end)):
        if np.ndim(gap) or np.asarray(gap).dtype.kind not in "biuf" or not gap > 0:
            raise InputError(f"anneal_contact: {name}={shown(gap)}: must be a gap above 0 [m]")
    if end > start * (1 + 1e-6):  # a leaf in single precision may round up
        raise InputError(f"anneal_contact: end={shown(end)} is above start={shown(start)}; gaps fall")
    gaps = np.geomspace(float(end), float(start), stages)[::-1]
    return tuple(hard.tree_replace({"opt.gap": gap}) for gap in gaps)


def without_meaning(m: Model) -> list[str]:
    """Return the options and fields that hard contact does not read and that a model sets to something of its own."""
    own = [name for name, default in _UNREAD_OPTIONS.items() if np.any(np.asarray(getattr(m.opt, name)) != default)]
    for kind, default in _UNREAD_FIELDS.items():
        found = (np.asarray(getattr(m, name)) for name in Model.__dataclass_fields__ if _is_unread(name, kind))
        own += [f"{kind} of contacts, limits or friction loss"] if any(_differs(x, default) for x in found) else []
    return own


# Option -> MuJoCo's default.
_UNREAD_OPTIONS = {
    "cone": ConeType.PYRAMIDAL,
    "solver": SolverType.NEWTON,
    "impratio": 1,
    "noslip_iterations": 0,
}
_UNREAD_FIELDS = {"solref": (0.02, 1), "solimp": (0.9, 0.95, 0.001, 0.5, 2)}


def _is_unread(name: str, kind: str) -> bool:
    return f"_{kind}" in name and not name.startswith("eq_")


def _differs(values: np.ndarray, default: tuple[float, ...]) -> bool:
    """Return whether any row is another one than MuJoCo's default, or than none at all."""
    default = np.asarray(default, values.dtype)
    return bool(np.any((values != default).any(axis=-1) & (values != 0).any(axis=-1)))
