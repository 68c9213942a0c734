"""Contact parameters of each candidate pair, mixed from its two geoms."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.constants import MINMU, MINVAL
from mjx_like.math import safe
from mjx_like.math.select import take, take_all
from mjx_like.types.enums import EnableBit
from mjx_like.types.model import Model
from mjx_like.types.pytree import Record, leaf, record

Array = jax.Array


@record
class PairParameters(Record):
    """What a contact inherits from its pair; one row for each candidate pair."""

    margin: Array = leaf("npair", unit="m, force below it")
    detect: Array = leaf("npair", unit="m, contact below it: margin + gap")
    friction: Array = leaf("npair", 5)
    solref: Array = leaf("npair", 2)
    solreffriction: Array = leaf("npair", 2)
    solimp: Array = leaf("npair", 5)
    adhesion: Array | None = leaf("npair", unit="N; None where no pair has it")


def pair_parameters(m: Model) -> PairParameters:
    """Return the parameters of all candidate pairs: from their <pair> element, else mixed; or overridden.

    Margins and gaps add. The geom of higher priority gives the rest; at equal priority, friction is the larger,
    solref and solimp are averaged by solmix, of a solref in direct format the smaller is taken, and adhesion adds.

    Source: mj_contactParam, mj_setContact, mj_assignMargin, mj_assignRef, mj_assignImp, mj_assignFriction.
    """
    plan = m.plans.collision
    first, second = plan.geom[:, 0], plan.geom[:, 1]
    prior = np.sign(m.geom_priority[first] - m.geom_priority[second])[:, None]
    names = ("solmix", "friction", "solref", "solimp", "margin", "gap")
    leaves = [getattr(m, "geom_" + name) for name in names]
    (solmix1, friction1, solref1, solimp1, margin1, gap1) = take_all(leaves, first)
    (solmix2, friction2, solref2, solimp2, margin2, gap2) = take_all(leaves, second)
    mix = _mix(solmix1, solmix2)[:, None]
    mix = jnp.where(prior == 0, mix, np.asarray(prior > 0, mix.dtype))
    larger = jnp.where(prior == 0, jnp.maximum(friction1, friction2), jnp.where(prior > 0, friction1, friction2))
    direct = (prior == 0) & ((solref1[:, :1] <= 0) | (solref2[:, :1] <= 0))
    solref = jnp.where(direct, jnp.minimum(solref1, solref2), mix * solref1 + (1 - mix) * solref2)
    values = {
        "margin": margin1 + margin2,
        "gap": gap1 + gap2,
        "friction": larger[:, np.array([0, 0, 1, 2, 2])],
        "solref": solref,
        "solreffriction": jnp.zeros_like(solref),
        "solimp": mix * solimp1 + (1 - mix) * solimp2,
    }
    if m.adhesive:
        counts = np.asarray([prior[:, 0] >= 0, prior[:, 0] <= 0], mix.dtype)
        values["adhesion"] = counts[0] * take(m.geom_adhesion, first) + counts[1] * take(m.geom_adhesion, second)
    if np.any(plan.explicit >= 0):
        own = np.maximum(plan.explicit, 0)
        for name, value in values.items():
            chosen = np.reshape(plan.explicit >= 0, (-1,) + (1,) * (value.ndim - 1))
            values[name] = jnp.where(chosen, take(getattr(m, "pair_" + name), own), value)
    if m.topology.enabled(EnableBit.OVERRIDE):
        for name, option in (("margin", "o_margin"), ("solref", "o_solref"), ("solreffriction", "o_solref"),
                             ("solimp", "o_solimp"), ("friction", "o_friction")):  # fmt: skip
            values[name] = jnp.broadcast_to(getattr(m.opt, option), values[name].shape)
    return PairParameters(
        margin=values["margin"],
        detect=values["margin"] + values["gap"],
        friction=jnp.maximum(values["friction"], MINMU),
        solref=values["solref"],
        solreffriction=values["solreffriction"],
        solimp=values["solimp"],
        adhesion=values.get("adhesion"),
    )


def of_pairs(parameters: PairParameters, pair: Array) -> PairParameters:
    """Return the rows of some pairs, shape (n,), taken as one table."""
    leaves, kind = jax.tree.flatten(parameters)
    columns = [x.reshape(len(x), -1) for x in leaves]
    table = jnp.concatenate(columns, axis=1)[pair]
    parts = jnp.split(table, np.cumsum([x.shape[1] for x in columns])[:-1], axis=1)
    return jax.tree.unflatten(kind, [x.reshape(-1, *y.shape[1:]) for x, y in zip(parts, leaves, strict=True)])


def _mix(weight1: Array, weight2: Array) -> Array:
    """Return the share of the first geom; a weight below MINVAL yields, and two such share equally."""
    none1, none2 = weight1 < MINVAL, weight2 < MINVAL
    total = jnp.where(none1 | none2, 1, weight1 + weight2)
    return jnp.where(none1, jnp.where(none2, 0.5, 0.0), jnp.where(none2, 1.0, safe.ratio(weight1, total)))
