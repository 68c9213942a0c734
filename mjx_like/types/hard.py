"""How hard contact is solved, where a user asks for it: the record, and its options as a user says them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.arguments import whole_number
from mjx_like.errors import InputError, UnsupportedError, closest, shown
from mjx_like.types.enums import EnableBit, IntegratorType
from mjx_like.types.pytree import Record, Role, leaf, record, static

if TYPE_CHECKING:
    from mjx_like.types.topology import Topology

Array = jax.Array

CONTACTS = ("soft", "hard")
HARD_OPTIONS = (
    "gap", "slip", "grad_gap", "recovery", "contact_iterations", "refresh", "restitution", "rebound_speed",
)  # fmt: skip
CONTACT_OPTIONS = ("contact", *HARD_OPTIONS)

_DEFAULTS = {
    "gap": 1e-5,
    "slip": None,
    "grad_gap": None,
    "recovery": 0.5,
    "contact_iterations": 30,
    "refresh": 1,
    "restitution": 0.0,
    "rebound_speed": 0.01,
}
_SLIP_OVER_GAP = 10  # 1/s
_FLOATS = ("gap", "slip", "grad_gap", "recovery", "restitution", "rebound_speed")


@record
class HardContact(Record):
    """Smoothness and budget of hard contact; see `with_hard_contact`."""

    iterations: int = static()  # most steps of a search
    refresh: int = static()  # how often contacts are found again where the step ends
    soft_cone: int = static()  # ConeType of the model with soft contact
    biased: bool = static()  # whether derivatives are those at grad_gap
    own_slip: bool = static()  # whether slip was given; else it is ten times the gap a second
    rebounds: bool = static()  # whether restitution is other than 0, or traced
    gap: Array = leaf(unit="m", role=Role.PARAMETER)
    slip: Array = leaf(unit="m/s", role=Role.PARAMETER)
    recovery: Array = leaf(unit="m/s", role=Role.PARAMETER)
    grad_gap: Array = leaf(unit="m", role=Role.PARAMETER)
    restitution: Array = leaf(unit="1", role=Role.PARAMETER)
    rebound_speed: Array = leaf(unit="m/s", role=Role.PARAMETER)


def contact_options(hard: HardContact | None) -> dict[str, Any]:
    """Return the options of contact by name; those that only hard contact has are None with soft contact."""
    if hard is None:
        return {"contact": "soft", **dict.fromkeys(HARD_OPTIONS)}
    return given_options(hard) | {"slip": hard.slip}


def given_options(hard: HardContact) -> dict[str, Any]:
    """Return the options of hard contact as they were given: None for what follows the gap."""
    return {
        "contact": "hard",
        "gap": hard.gap,
        "slip": hard.slip if hard.own_slip else None,
        "grad_gap": hard.grad_gap if hard.biased else None,
        "recovery": hard.recovery,
        "contact_iterations": hard.iterations,
        "refresh": hard.refresh,
        "restitution": hard.restitution,
        "rebound_speed": hard.rebound_speed,
    }


def changed_contact(hard: HardContact | None, changes: Mapping[str, Any], cone: int, dtype: Any) -> HardContact | None:
    """Return the record of hard contact after a change of options; None for soft contact.

    Args:
      hard: the record before; None for soft contact.
      changes: options by name, those of CONTACT_OPTIONS; None stands for the default.
      cone: ConeType of the model with soft contact.
      dtype: of the leaves.

    Raises:
      InputError: an unknown kind of contact, an option of hard contact for soft contact, or a value that the option
        cannot have.
    """
    kind = changes.get("contact", "soft" if hard is None else "hard")
    if not isinstance(kind, str) or kind not in CONTACTS:
        hint = closest(kind, CONTACTS) if isinstance(kind, str) else ""
        raise InputError(f"contact={shown(kind)}: must be 'soft' or 'hard'{hint}")
    if kind == "soft":
        for name in (n for n in HARD_OPTIONS if changes.get(n) is not None):
            raise InputError(f"{name} belongs to hard contact: give contact='hard' with it")
        return None
    if hard is not None and hard.gap is None:
        return _axes(hard, changes)
    asked = {**(_DEFAULTS if hard is None else given_options(hard)), **changes}
    return _record({n: _DEFAULTS[n] if asked[n] is None else asked[n] for n in HARD_OPTIONS}, cone, dtype)


def _record(given: dict[str, Any], cone: int, dtype: Any) -> HardContact:
    """Return the record of options, those that follow the gap still None.  Raises InputError for their values."""
    own_slip, biased = given["slip"] is not None, given["grad_gap"] is not None
    for name in _FLOATS:
        _check_share(name, given[name]) if name == "restitution" else _check_positive(name, given[name])
    gap = given["gap"] if isinstance(given["gap"], jax.Array) else np.asarray(given["gap"])
    given["slip"] = given["slip"] if own_slip else _SLIP_OVER_GAP * gap
    given["grad_gap"] = given["grad_gap"] if biased else gap
    return HardContact(
        iterations=whole_number("contact_iterations", given["contact_iterations"], least=1),
        refresh=whole_number("refresh", given["refresh"], least=0),
        soft_cone=cone,
        biased=biased,
        own_slip=own_slip,
        rebounds=_is_given(given["restitution"]),
        **{name: jnp.asarray(given[name], dtype) for name in _FLOATS},
    )


def _check_positive(name: str, value: Any) -> None:
    """Raise for a known length or speed that is not positive, or without bound, as only recovery can be."""
    if value is None or isinstance(value, jax.core.Tracer):
        return
    known = np.asarray(value)
    if not (known.dtype.kind in "iuf" and np.all(known > 0)):
        raise InputError(f"{name}={shown(value)} must be above 0")
    if name != "recovery" and not np.all(np.isfinite(known)):
        raise InputError(f"{name}={shown(value)} must be finite")


def _check_share(name: str, value: Any) -> None:
    """Raise for a known share that is none."""
    if isinstance(value, jax.core.Tracer):
        return
    known = np.asarray(value)
    if not (known.dtype.kind in "iuf" and np.all((known >= 0) & (known <= 1))):
        raise InputError(f"{name}={shown(value)} must be at least 0 and at most 1")


def _is_given(restitution: Any) -> bool:
    return isinstance(restitution, jax.core.Tracer) or bool(np.any(np.asarray(restitution) != 0))


def _axes(hard: HardContact, changes: Mapping[str, Any]) -> HardContact:
    """Return a tree of axes, for `vmap`, after a change: what follows the gap has its axis."""
    axes = {name: changes.get(name, getattr(hard, name)) for name in _FLOATS}
    axes["slip"] = axes["slip"] if hard.own_slip else axes["gap"]
    axes["grad_gap"] = axes["grad_gap"] if hard.biased else axes["gap"]
    return hard.replace(rebounds=hard.rebounds or changes.get("restitution") is not None, **axes)


def refuse_hard(t: "Topology", smoothed: bool) -> None:
    """Raise for what hard contact does not do.

    Raises:
      InputError: smoothing, which is of soft contact.
      UnsupportedError: the integrator `discrete`, or the flags `speculative` and `fwdinv`.
    """
    if smoothed:
        raise InputError("hard contact: the model has smoothing, of soft contact: mjx.without_smoothing(m) first")
    found = {
        "integrator discrete: take implicitfast": t.flags.integrator == IntegratorType.DISCRETE,
        "flag speculative": t.enabled(EnableBit.SPECULATIVE),
        "flag fwdinv": t.enabled(EnableBit.FWDINV),
    }
    for name in (name for name, there in found.items() if there):
        raise UnsupportedError(f"hard contact has no {name}")
