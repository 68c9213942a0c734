"""What went wrong in a simulation so far, decoded from the counters of Data."""

import jax
import numpy as np

from mjx_like.errors import InputError
from mjx_like.refsafe import raised_time_constants
from mjx_like.types.data import Data
from mjx_like.types.enums import IntegratorType, WarningType
from mjx_like.types.model import Model
from mjx_like.worlds import lead_of_worlds

_MEANING = {
    WarningType.INERTIA: "an inertia matrix could not be factored",
    WarningType.CONTACTFULL: "the contact buffer was full",
    WarningType.CNSTRFULL: "the constraint buffer was full",
    WarningType.BADQPOS: "qpos was not finite or too large",
    WarningType.BADQVEL: "qvel was not finite or too large",
    WarningType.BADQACC: "qacc was not finite or too large; a smaller time step may help",
    WarningType.BADCTRL: "ctrl was not finite or too large, and was taken as zero",
}


def check(m: Model, d: Data) -> tuple[str, ...]:
    """Return what went wrong so far, and what of the model is not as it says, one line a kind; none if all is well.

    The latter are time constants of constraints below two time steps, which MuJoCo raises (flag refsafe).
    m, d: one world or many, not traced. Counters are summed over worlds.

    Raises:
      InputError: `d` is no Data of `m`, or one of them is traced.
    """
    lead_of_worlds("check", m, d)
    for name, record in (("m", m), ("d", d)):
        if any(isinstance(x, jax.core.Tracer) for x in jax.tree.leaves(record)):
            raise InputError(f"check: {name} is traced: call it outside jit, vmap and grad")
    lines = []
    counts = np.asarray(d.warning).reshape(-1, np.asarray(d.warning).shape[-1])
    for kind, meaning in _MEANING.items():
        times, worlds = int(counts[:, kind].sum()), int((counts[:, kind] > 0).sum())
        if times:
            lines.append(f"{kind.name}: {meaning} ({times} times, in {worlds} of {len(counts)} worlds)")
    for used, room, name in ((d.maxuse_con, m.nconmax, "nconmax"), (d.maxuse_efc, m.njmax, "njmax")):
        most = int(np.max(np.asarray(used), initial=0))
        if most > room:
            lines.append(f"{name}: {most} were needed and there is room for {room}; load the model with {name}={most}")
    short = int(np.sum(np.asarray(d.unconverged)))
    if short:
        shorter = "a shorter time step or " * (m.opt.integrator == IntegratorType.VARIATIONAL)
        lines.append(f"solver: {short} solves ended before the tolerance; {shorter}more iterations may help")
    return (*lines, *raised_time_constants(m))
