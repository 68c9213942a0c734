"""Writes docs/reference/features.md from the dispatch tables: `python docs/make_features.py`, needs the extra `test`.

A row is a member of one of MuJoCo's enums, or a pair of geom types. What MJX has is read from the installed mujoco-mjx.
"""

import enum
import pathlib
import sys

import mjx_like as mjx
from mjx_like.actuator.plan import BUILT
from mjx_like.collision.pairs import NEVER
from mjx_like.collision.plan import FIELD_KINDS, POINTS, SDF_KINDS
from mjx_like.constraint.plan import _ROWS as EQUALITIES
from mjx_like.geometry.ray import RAY
from mjx_like.ray.surface import SURFACES
from mjx_like.sensor.stage import SENSORS
from mjx_like.solver.implicit_gradient import SOLVERS
from mjx_like.types import enums

PAGE = pathlib.Path(__file__).parent / "reference" / "features.md"
STEP = sys.modules["mjx_like.step"]
HEAD = """# What the engine runs

Generated from the dispatch tables by `python docs/make_features.py`; do not edit. An element without a check mark is
compiled, listed by `python -m mjx_like info`, and refused by name by `make_data`. The last column is what mujoco-mjx
{version} (its JAX implementation) has in its own tables.
"""

_Table = list[tuple[str, bool, bool]]


def members(kind: type[enum.IntEnum], built, theirs, leave: tuple[str, ...] = ()) -> _Table:
    """Return a row for each member: its name, whether it is in `built`, and whether MJX's enum has it."""
    return [
        (member.name.lower(), member in built, theirs is not None and member.name in theirs.__members__)
        for member in kind
        if member.name not in leave
    ]


def pairs(theirs) -> _Table:
    """Return a row for each pair of geom types that MuJoCo collides."""
    solid = [g for g in enums.GeomType if g <= enums.GeomType.SDF]
    table = {tuple(sorted((int(a), int(b)))) for a, b in theirs}
    built = {*POINTS, *((enums.GeomType.HFIELD, kind) for kind in FIELD_KINDS)}
    built |= {(kind, enums.GeomType.SDF) for kind in SDF_KINDS}
    return [
        (f"{a.name.lower()} with {b.name.lower()}", (a, b) in built, (int(a), int(b)) in table)
        for i, a in enumerate(solid)
        for b in solid[i:]
        if (a, b) not in NEVER
    ]


def tables() -> dict[str, tuple[str, _Table]]:
    """Return, by title, the test that holds the rows and the rows."""
    from mujoco.mjx._src import collision_driver, types

    drawn = tuple(g.name for g in enums.GeomType if g > enums.GeomType.SDF)
    return {
        "Collision": ("tests/collision", pairs(collision_driver._COLLISION_FUNC)),
        "Sensors": ("tests/sensor", members(enums.SensorType, SENSORS, types.SensorType)),
        "Rays": ("tests/ray", members(enums.GeomType, {*RAY, *SURFACES}, types.GeomType, drawn)),
        "Equality": ("tests/constraint", members(enums.EqType, EQUALITIES, types.EqType)),
        "Solvers": ("tests/solver", members(enums.SolverType, SOLVERS, types.SolverType)),
        "Integrators": ("tests/integrator", members(enums.IntegratorType, STEP.INTEGRATORS, types.IntegratorType)),
        "Transmission": (
            "tests/actuator",
            members(enums.TrnType, BUILT["transmission"], types.TrnType, ("UNDEFINED",)),
        ),
        "Activation": ("tests/actuator", members(enums.DynType, BUILT["dyntype"], types.DynType)),
        "Gain": ("tests/actuator", members(enums.GainType, BUILT["gaintype"], types.GainType)),
        "Bias": ("tests/actuator", members(enums.BiasType, BUILT["biastype"], types.BiasType)),
    }


def page() -> str:
    """Return the text of the page."""
    from importlib.metadata import version

    parts = [HEAD.format(version=version("mujoco-mjx"))]
    for title, (test, rows) in tables().items():
        body = "\n".join(f"| {name} | {'✓' if ours else ''} | {'✓' if theirs else ''} |" for name, ours, theirs in rows)
        parts.append(f"## {title}\n\nHeld by `{test}`.\n\n| | mjx_like | MJX |\n|---|---|---|\n{body}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
    print(f"{mjx.__name__}: wrote {PAGE}")
