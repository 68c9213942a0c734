"""A Spec that was edited, compiled again, with the state that it had."""

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

from mjx_like.compiler.compile import compile_spec
from mjx_like.compiler.element.joint import NQ, NV
from mjx_like.compiler.finalize import finalize
from mjx_like.compiler.unfinalize import contact_of
from mjx_like.errors import InputError
from mjx_like.mjcf.attach.keyframe import Layout, layout
from mjx_like.mjcf.edit.spec import Spec
from mjx_like.mjcf.element import Element
from mjx_like.state.initial import make_data
from mjx_like.types.data import Data
from mjx_like.types.enums import JointType
from mjx_like.types.model import Model
from mjx_like.types.pytree import Role, leaves

_CARRIED = (Role.STATE, Role.WARMSTART, Role.INPUT)
_PER_DOF = tuple(f.name for f in leaves(Data) if f.metadata["shape"] == ("nv",) and f.metadata["role"] in _CARRIED)

Block = tuple[Element | None, slice]


def recompile(spec: Spec, m: Model, d: Data) -> tuple[Model, Data]:
    """Return the Model of a Spec that was edited since it was compiled to `m`, and the state of `d` in it.

    Joints, mocap bodies and actuators that are still there keep their positions, velocities, warm start, applied
    forces, activations and controls; new ones begin as at qpos0. Capacities, dtype, hooks and contact are those of `m`.

    Args:
      spec: the Spec.
      m: the Model that it was last compiled to.
      d: one world of `m`.

    Raises:
      InputError: `m` is not that Model, or `d` has a batch axis.
      ModelError: as `Spec.compile`.
    Source: mj_recompile.
    """
    old: Layout | None = getattr(spec, "_layout", None)
    if old is None or (len(old.joints), len(old.actuators)) != (m.njnt, m.nactuator):
        raise InputError("m is not the Model that this Spec was last compiled to; compile it and make new data")
    if d.qpos.shape != (m.nq,):
        raise InputError(f"d.qpos has shape {d.qpos.shape}, one world has {(m.nq,)}; take one world of the batch")
    t = m.topology
    arrays = compile_spec(spec.checked())
    arrays.contact = contact_of(m)
    model = finalize(arrays, *t.capacity_args, m.qpos0.dtype, t.hooks)
    new, data = layout(spec._record), make_data(model)
    spec._layout = new
    changes = {"time": d.time}
    for name, before, after in (
        ("qpos", _joints(old, m, NQ), _joints(new, model, NQ)),
        *((name, _joints(old, m, NV), _joints(new, model, NV)) for name in _PER_DOF),
        ("act", _actuators(old, m, "act"), _actuators(new, model, "act")),
        ("ctrl", _actuators(old, m, "ctrl"), _actuators(new, model, "ctrl")),
        ("mocap_pos", _mocaps(old), _mocaps(new)),
        ("mocap_quat", _mocaps(old), _mocaps(new)),
    ):
        values = _moved(np.asarray(getattr(d, name)), dict(before), np.array(getattr(data, name)), after)
        changes[name] = jnp.asarray(values, getattr(data, name).dtype)
    return model, data.replace(**changes)


def _moved(given: np.ndarray, before: dict[Element | None, slice], values: np.ndarray, after: Iterator[Block]):
    """Values of a field, those of elements that were there before taken from what is given."""
    for element, place in after:
        source = before.get(element)
        if source is not None and given[source].shape == values[place].shape:
            values[place] = given[source]
    return values


def _joints(found: Layout, m: Model, width: dict[JointType, int]) -> Iterator[Block]:
    start = 0
    for (element, _, _), kind in zip(found.joints, m.jnt_type, strict=True):
        yield element, slice(start, start + width[JointType(kind)])
        start += width[JointType(kind)]


def _actuators(found: Layout, m: Model, what: str) -> Iterator[Block]:
    number = getattr(m, f"actuator_{what}num")
    for (element, _), start, count in zip(found.actuators, getattr(m, f"actuator_{what}adr"), number, strict=True):
        yield element, slice(max(int(start), 0), max(int(start), 0) + int(count))


def _mocaps(found: Layout) -> Iterator[Block]:
    return ((element, slice(i, i + 1)) for i, element in enumerate(found.mocaps))
