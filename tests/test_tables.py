"""Every member of an enum has its row or is refused by name, and a row says what others must know of it.

It needs nothing but the package: docs/extending.md runs it on copies with new rows.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mjx_like.actuator.plan import TRANSMITTED
from mjx_like.actuator.table import BIASES, DYNAMICS, GAINS, Motion
from mjx_like.collision.candidate_pairs import NEVER
from mjx_like.collision.table import PAIRS, Method
from mjx_like.constraint.plan import ROWS
from mjx_like.constraint.plan import UNBUILT as UNBUILT_EQUALITIES
from mjx_like.integrator.table import INTEGRATORS
from mjx_like.mjcf.schema import ELEMENTS
from mjx_like.mjcf.schema import keywords as k
from mjx_like.sensor.table import NEEDS, SENSORS
from mjx_like.sensor.table import UNBUILT as UNBUILT_SENSORS
from mjx_like.solver.implicit_gradient import SOLVERS
from mjx_like.tendon.plan import WRAPS
from mjx_like.types.enums import (
    Attachment,
    BiasType,
    DynType,
    EqType,
    GainType,
    GeomType,
    IntegratorType,
    SensorType,
    SolverType,
    TrnType,
    WrapType,
)
from mjx_like.types.hooks import Hooks

SOLID = [kind for kind in GeomType if kind <= GeomType.SDF]
MEMBERS = {
    "sensor": (SensorType, SENSORS, UNBUILT_SENSORS),
    "dynamics": (DynType, DYNAMICS, ()),
    "gain": (GainType, GAINS, ()),
    "bias": (BiasType, BIASES, ()),
    "transmission": (TrnType, TRANSMITTED, (TrnType.UNDEFINED,)),
    "equality": (EqType, ROWS, UNBUILT_EQUALITIES),
    "pair": ([(a, b) for a in SOLID for b in SOLID if a <= b], PAIRS, NEVER),
    "integrator": (IntegratorType, INTEGRATORS, ()),
    "solver": (SolverType, SOLVERS, ()),
    "wrap": (WrapType, WRAPS, (WrapType.NONE,)),
}


@pytest.mark.parametrize("table", MEMBERS)
def test_every_member_has_a_row_or_is_refused(table):
    members, built, refused = (set(part) for part in MEMBERS[table])
    assert not members - built - refused, "neither a row nor a refusal"
    assert not built & refused, "both a row and a refusal"
    assert not (built | refused) - members, "a row of no member"


@pytest.mark.parametrize("kind", SensorType, ids=lambda kind: kind.name)
def test_row_of_a_sensor(kind):
    assert kind.tag in ELEMENTS["sensor"].children, "no element in MJCF"
    assert kind.dim > 0 or kind.attachment == Attachment.OWN, "dim"
    if kind in SENSORS:
        assert set(SENSORS[kind].needs) <= set(NEEDS), "needs: a computation that NEEDS does not have"
        assert kind.stage >= max((NEEDS[need] for need in SENSORS[kind].needs), default=0), "needs: of a later stage"


def law(table, kind):
    """Return gain or bias as a function of velocity, at four speeds and with parameters that a muscle can have."""
    one = jnp.ones(4)
    prm = jnp.tile(jnp.array([0.7, 1.1, 200.0, 100.0, 0.5, 1.6, 1.5, 1.3, 1.2, 0.0]), (4, 1))
    span = jnp.tile(jnp.array([0.5, 1.5]), (4, 1))
    return lambda velocity: table[kind].kernel(Motion(one, velocity, span, one), prm)


@pytest.mark.parametrize(
    ("table", "kind"),
    [(table, kind) for table in (GAINS, BIASES) for kind, row in table.items() if row.kernel],
    ids=lambda part: getattr(part, "name", None) and f"{type(part).__name__}.{part.name}",
)
def test_a_law_says_whether_it_depends_on_velocity(table, kind):
    velocity = jnp.array([-0.4, -0.1, 0.2, 0.5])
    _, slope = jax.jvp(law(table, kind), (velocity,), (jnp.ones(4),))
    assert bool(np.any(slope != 0)) == table[kind].velocity_dependent


@pytest.mark.parametrize("table", ["dynamics", "gain", "bias"])
def test_hooks_of_actuators_are_hooks(table):
    for kind, row in MEMBERS[table][1].items():
        assert not row.hook or row.hook in Hooks.__dataclass_fields__, kind


@pytest.mark.parametrize("kinds", PAIRS, ids=lambda kinds: "-".join(kind.name.lower() for kind in kinds))
def test_row_of_a_pair(kinds):
    row = PAIRS[kinds]
    counted = row.method in (Method.HEIGHT_FIELD, Method.SIGNED_DISTANCE)  # by the model
    assert (row.kernel is not None) == (row.method == Method.KERNEL), "kernel"
    assert (row.slots == row.most == 0) if counted else (row.slots >= row.most >= 1), "slots and most"


@pytest.mark.parametrize("kind", IntegratorType, ids=lambda kind: kind.name)
def test_row_of_an_integrator(kind):
    row = INTEGRATORS[kind]
    assert (row.advance is None) == (row.in_stages is not None), "advance or in_stages"
    assert row.metric is None or row.in_step is None, "a step in discrete time is its own inverse"


OF_MJCF = set(IntegratorType) - {IntegratorType.VARIATIONAL}  # which a model file has as a custom text


@pytest.mark.parametrize(
    ("keywords", "members"), [(k.DYN, DynType), (k.GAIN, GainType), (k.BIAS, BiasType), (k.INTEGRATOR, OF_MJCF)]
)
def test_every_member_has_a_keyword(keywords, members):
    assert sorted(keywords.values()) == sorted(members)
