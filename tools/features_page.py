"""Writes docs/reference/features.md from the dispatch tables: `python tools/features_page.py`, needs the extra `test`.

A row is a member of one of MuJoCo's enums, or a pair of geom types. What MJX has is read from the installed mujoco-mjx.
"""

import enum
import pathlib
from typing import NamedTuple

import mjx_like as mjx
from mjx_like.actuator.plan import TRANSMITTED
from mjx_like.actuator.table import BIASES, DYNAMICS, GAINS
from mjx_like.collision.candidate_pairs import NEVER
from mjx_like.collision.table import PAIRS
from mjx_like.constraint.plan import ROWS as EQUALITIES
from mjx_like.geometry.ray import RAY
from mjx_like.integrator.table import INTEGRATORS
from mjx_like.ray.surface import SURFACES
from mjx_like.sensor.table import SENSORS
from mjx_like.solver.implicit_gradient import SOLVERS
from mjx_like.types import enums

ROOT = pathlib.Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "features.md"
HEAD = """# What the engine runs

Generated from the dispatch tables by `python tools/features_page.py`; do not edit. An element without a check mark is
compiled, listed by `python -m mjx_like info`, and refused by name by `make_data`. The third column is what mujoco-mjx
{version} (its JAX implementation) has in its own tables. The last names a test, or a small model under
`tests/models/features`: each of those is held against MuJoCo by `tests/forward/test_oracle.py`.
"""

FEATURES = ROOT / "tests" / "models" / "features"


class Row(NamedTuple):
    """A feature: its name, whether it is built, whether MJX has it, and what holds it."""

    name: str
    ours: bool
    theirs: bool
    held: str


def members(kind: type[enum.IntEnum], built, theirs, held: dict[int, str], test: str, leave=()) -> list[Row]:
    """Return a row for each member of an enum that is not in `leave`; test: what holds those without a small model."""
    return [
        Row(
            member.name.lower(),
            member in built,
            theirs is not None and member.name in theirs.__members__,
            held.get(int(member), test) if member in built else "",
        )
        for member in kind
        if member.name not in leave
    ]


def pairs(theirs) -> list[Row]:
    """Return a row for each pair of geom types that MuJoCo collides."""
    solid = [g for g in enums.GeomType if g <= enums.GeomType.SDF]
    table = {tuple(sorted((int(a), int(b)))) for a, b in theirs}
    rows = []
    for i, a in enumerate(solid):
        for b in (b for b in solid[i:] if (a, b) not in NEVER):
            names = a.name.lower(), b.name.lower()
            model = FEATURES / f"pair_{'_'.join(names)}.xml"
            held = model.name if model.exists() else "tests/collision/test_sdf.py"
            ours = (a, b) in PAIRS
            rows.append(Row(" with ".join(names), ours, (int(a), int(b)) in table, held if ours else ""))
    return rows


def small_models() -> dict[str, dict[int, str]]:
    """Return, by table, the first small model that has each member of its enum."""
    held: dict[str, dict[int, str]] = {}
    for path in sorted(FEATURES.glob("*.xml")):
        m = mjx.Model.from_xml_path(str(path))
        for table, found in {
            "Sensors": m.sensor_type,
            "Equality": m.eq_type,
            "Solvers": [m.flags.solver],
            "Integrators": [m.flags.integrator],
            "Transmission": m.actuator_trntype,
            "Activation": m.actuator_dyntype,
            "Gain": m.actuator_gaintype,
            "Bias": m.actuator_biastype,
        }.items():
            for member in found:
                held.setdefault(table, {}).setdefault(int(member), path.name)
    return held


def tables() -> dict[str, list[Row]]:
    """Return the rows by title."""
    from mujoco.mjx._src import collision_driver, types

    drawn = tuple(g.name for g in enums.GeomType if g > enums.GeomType.SDF)
    kinds = {
        "Sensors": (enums.SensorType, SENSORS, types.SensorType, "tests/sensor"),
        "Equality": (enums.EqType, EQUALITIES, types.EqType, "tests/constraint"),
        "Solvers": (enums.SolverType, SOLVERS, types.SolverType, "tests/solver"),
        "Integrators": (enums.IntegratorType, INTEGRATORS, types.IntegratorType, "tests/integrator"),
        "Transmission": (enums.TrnType, TRANSMITTED, types.TrnType, "tests/actuator", ("UNDEFINED",)),
        "Activation": (enums.DynType, DYNAMICS, types.DynType, "tests/actuator"),
        "Gain": (enums.GainType, GAINS, types.GainType, "tests/actuator"),
        "Bias": (enums.BiasType, BIASES, types.BiasType, "tests/actuator"),
    }
    held = small_models()
    out = {"Collision": pairs(collision_driver._COLLISION_FUNC)}
    for title, (kind, built, theirs, test, *leave) in kinds.items():
        out[title] = members(kind, built, theirs, held.get(title, {}), test, *leave)
    rays = members(enums.GeomType, {*RAY, *SURFACES}, types.GeomType, {}, "tests/ray/test_ray.py", drawn)
    return {"Collision": out.pop("Collision"), "Sensors": out.pop("Sensors"), "Rays": rays, **out}


def page() -> str:
    """Return the text of the page."""
    from importlib.metadata import version

    parts = [HEAD.format(version=version("mujoco-mjx"))]
    for title, rows in tables().items():
        body = "\n".join(
            f"| {row.name} | {'✓' if row.ours else ''} | {'✓' if row.theirs else ''} | {row.held} |" for row in rows
        )
        parts.append(f"## {title}\n\n| | mjx_like | MJX | held by |\n|---|---|---|---|\n{body}\n")
    notes = "\n".join(f"| {kind.tag} | {row.gradient} |" for kind, row in SENSORS.items() if row.gradient)
    parts.append(
        f"## Derivatives of sensors\n\nThey are those of the values, but for:\n\n| | derivative |\n|---|---|\n{notes}\n"
    )
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
    print(f"{mjx.__name__}: wrote {PAGE}")
