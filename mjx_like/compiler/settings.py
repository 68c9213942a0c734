"""Options, statistics, sizes of user data, and the compiler's own settings."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mjx_like.compiler.context import SOLIMP, SOLREF, Context, Names, choice, keyword, vector
from mjx_like.errors import ModelError
from mjx_like.mjcf.spec import Spec
from mjx_like.types.enums import ConeType, DisableBit, EnableBit, IntegratorType, JacobianType, SolverType

_KEYWORDS = {"integrator": IntegratorType, "cone": ConeType, "jacobian": JacobianType, "solver": SolverType}
_VECTORS = {
    "gravity": (3, (0, 0, -9.81)), "wind": (3, 0), "magnetic": (3, (0, -0.5, 0)), "o_solref": (2, SOLREF),
    "o_solimp": (5, SOLIMP), "o_friction": (5, (1, 1, 0.005, 0.0001, 0.0001)),
}  # fmt: skip
_FLOATS = {
    "timestep": 0.002, "impratio": 1, "tolerance": 1e-8, "ls_tolerance": 0.01, "noslip_tolerance": 1e-6,
    "ccd_tolerance": 1e-6, "sleep_tolerance": 1e-4, "density": 0, "viscosity": 0, "o_margin": 0,
}  # fmt: skip
_INTEGERS = {
    "iterations": 100, "ls_iterations": 50, "noslip_iterations": 0, "ccd_iterations": 35, "sdf_iterations": 10,
    "sdf_initpoints": 40,
}  # fmt: skip
_CHOICES = {"integrator": "Euler", "cone": "pyramidal", "jacobian": "auto", "solver": "Newton"}


def options(spec: Spec) -> dict[str, Any]:
    """Return mjOption's fields by name.

    Raises:
      ModelError: an actuator group that does not exist.
    """
    given = spec.option
    result: dict[str, Any] = {name: float(given.get(name, value)) for name, value in _FLOATS.items()}
    result |= {name: vector(given.get(name), length, fill) for name, (length, fill) in _VECTORS.items()}
    result |= {name: int(given.get(name, value)) for name, value in _INTEGERS.items()}
    result |= {name: keyword(_KEYWORDS[name], given.get(name, word)) for name, word in _CHOICES.items()}
    result |= {"disableflags": 0, "enableflags": 0, "disableactuator": 0}
    for name, value in spec.flag.items():
        if name.upper() in DisableBit.__members__:
            result["disableflags"] |= int(DisableBit[name.upper()]) * (value == "disable")
        else:
            result["enableflags"] |= int(EnableBit[name.upper()]) * (value == "enable")
    for group in np.atleast_1d(given.get("actuatorgroupdisable", ())).astype(int):
        if not 0 <= group <= 30:
            raise ModelError(f"option actuatorgroupdisable: group {group} is not between 0 and 30")
        result["disableactuator"] |= 1 << int(group)
    return result


def statistics(spec: Spec) -> dict[str, Any]:
    """Return what the file gives of mjStatistic's fields."""
    return {name: np.array(value, float) for name, value in spec.statistic.items() if value is not None}


def context(spec: Spec) -> Context:
    """Return the compiler's settings; the sizes of user data are still open.

    Raises:
      ModelError: a setting that is not built yet.
    """
    c = spec.compiler
    for name in ("fusestatic", "discardvisual"):
        if c.get(name):
            raise ModelError(f"compiler {name} is not built yet; remove it")
    return Context(
        spec=spec,
        degree=c.get("angle", "degree") == "degree",
        eulerseq=c.get("eulerseq", "xyz"),
        autolimits=bool(c.get("autolimits", True)),
        alignfree=bool(c.get("alignfree")),
        balanceinertia=bool(c.get("balanceinertia")),
        boundmass=float(c.get("boundmass") or 0),
        boundinertia=float(c.get("boundinertia") or 0),
        settotalmass=float(c.get("settotalmass", -1)),
        inertiafromgeom=choice(c.get("inertiafromgeom")),
        inertiagrouprange=tuple(int(v) for v in vector(c.get("inertiagrouprange"), 2, (0, 5))),
        znear=float(spec.visual.get("map", {}).get("znear", 0.01)),
        names=Names(),
        user={},
    )


def user_size(spec: Spec, size: str, attributes: list[Mapping[str, Any]]) -> int:
    """Return how many user values the objects of a kind have: as <size> says, else as many as the longest has."""
    given = int(spec.size.get(size, -1))
    if given >= 0:
        return given
    lengths = [np.size(a["user"]) for a in attributes if a.get("user") is not None]
    return max(lengths, default=0)
