"""Time constants of constraints that MuJoCo raises to two time steps: which of a model's, for `check`."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import jax
import numpy as np

from mjx_like.collision.mixing import PairParameters, pair_parameters
from mjx_like.types.enums import ConeType, DisableBit, ObjType
from mjx_like.types.model import Model
from mjx_like.worlds import ranks

_FEW = 6  # elements that are named
_ROUNDING = 1e-6  # by which a time constant may miss two steps


class _Source(NamedTuple):
    """Elements of a kind, and the solref of each, shape (..., n, 2)."""

    kind: str
    names: Sequence[str]
    solref: np.ndarray
    field: str = "solref"


def raised_time_constants(m: Model) -> tuple[str, ...]:
    """Return what the flag refsafe raises, one line a kind of constraint; none where it is off.

    m: one model or many, not traced. The standard form of solref alone is raised, and not by the integrator `discrete`.
    Source: getsolparam of engine_core_constraint.
    """
    if m.disabled(DisableBit.REFSAFE) or m.plans.integrator.in_step:
        return ()
    least = 2 * np.asarray(m.opt_floats.timestep, float)
    return tuple(line for source in (*_of_slots(m), *_of_contacts(m)) for line in _line(source, least))


def _line(source: _Source, least: np.ndarray) -> Iterator[str]:
    """Yield what is said of a kind of constraint, if a time constant is below the least, shape (...)."""
    solref = np.asarray(source.solref, float)
    shape = np.broadcast_shapes(solref.shape[:-1], (*least.shape, 1))
    time, least = np.broadcast_to(solref[..., 0], shape), np.broadcast_to(least[..., None], shape)
    low = (solref > 0).all(axis=-1) & (time < least * (1 - _ROUNDING))
    if not low.any():
        return
    worlds = low.reshape(-1, low.shape[-1])
    several = f", in {worlds.any(axis=1).sum()} of {len(worlds)} worlds" if low.ndim > 1 else ""
    names = list(dict.fromkeys(name for name, some in zip(source.names, worlds.any(axis=0), strict=True) if some))
    listed = ", ".join(names[:_FEW]) + (f" and {len(names) - _FEW} more" if len(names) > _FEW else "")
    elements = f"{source.kind} {listed} ({len(names)} of {len(set(source.names))}{several})"
    yield (
        f"refsafe: {elements}: {source.field}[0] is down to {time[low].min():g} s, below two time steps, "
        f"{least[low].max():g} s; it is raised to that, and its derivative is 0: give more, or a timestep of at most "
        f"{time[low].min() / 2:g}"
    )


def _of_slots(m: Model) -> Iterator[_Source]:
    """Yield the limits, friction losses and equalities that can have rows."""
    plan = m.plans.constraint
    equality = np.unique(plan.slot_id[: len(plan.equality_order)])
    limit = np.sort(np.concatenate([plan.limit_scalar, plan.limit_ball]))
    for kind, of, ids, field in (
        ("limits of joints", ObjType.JOINT, limit, "jnt_solref"),
        ("friction loss of joints", ObjType.JOINT, plan.friction_dof, "dof_solref"),
        ("limits of tendons", ObjType.TENDON, plan.limit_tendon, "tendon_solref_lim"),
        ("friction loss of tendons", ObjType.TENDON, plan.friction_tendon, "tendon_solref_fri"),
        ("equalities", ObjType.EQUALITY, equality, "eq_solref"),
    ):
        owner = m.dof_jntid[ids] if field == "dof_solref" else ids
        yield _Source(kind, _names(m, of, owner), np.asarray(getattr(m, field))[..., ids, :])


def _of_contacts(m: Model) -> Iterator[_Source]:
    """Yield the pairs of geoms that can touch, with the solref mixed from both."""
    geom = m.plans.collision.geom
    if not m.plans.constraint.contact_dims or not len(geom):
        return
    parameters, sides = _parameters(m), [_names(m, ObjType.GEOM, geom[:, i]) for i in range(2)]
    names = [f"{a}-{b}" for a, b in zip(*sides, strict=True)]
    yield _Source("contacts of geoms", names, parameters.solref)
    if m.flags.cone == ConeType.ELLIPTIC:
        friction = parameters.solreffriction
        yield _Source("friction of contacts of geoms", names, friction, "solreffriction")


def _parameters(m: Model) -> PairParameters:
    """Return the parameters of all pairs, with a leading axis if leaves of the model have one."""
    leaves, structure = jax.tree.flatten(m)
    axes = [0 if np.ndim(x) > rank else None for x, rank in zip(leaves, ranks(m), strict=True)]
    if not any(axis == 0 for axis in axes):
        return pair_parameters(m)
    return jax.vmap(pair_parameters, in_axes=(jax.tree.unflatten(structure, axes),))(m)


def _names(m: Model, kind: ObjType, ids: np.ndarray) -> list[str]:
    return [repr(m.id2name(kind, int(i))) if m.id2name(kind, int(i)) else str(i) for i in ids]
