"""Options, statistics, sizes of user data, and the compiler's own settings."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mjx_like.compiler.context import Context, Names, settings
from mjx_like.mjcf.schema import keywords
from mjx_like.mjcf.spec import Spec
from mjx_like.types.enums import ConeType, DisableBit, EnableBit, IntegratorType, JacobianType, SolverType
from mjx_like.types.option import OPTION_FLAGS, OptionFloats
from mjx_like.types.visual import Visual, visual_from

MAX_USER = 100_000  # user values of one object

_KEYWORDS = {"integrator": IntegratorType, "cone": ConeType, "jacobian": JacobianType, "solver": SolverType}


def options(spec: Spec) -> dict[str, Any]:
    """Return mjOption's fields by name.

    Raises:
      ModelError: a number that is not finite, an unknown actuator group, or choices that do not go together.
    """
    given = spec.option
    result: dict[str, Any] = {name: np.array(given[name], float) for name in OptionFloats.__dataclass_fields__}
    for name, value in result.items():
        if not np.isfinite(value).all():
            raise spec.error("option", f"attribute '{name}' has a number that is not finite")
    result |= {name: given[name] for name in OPTION_FLAGS if name in given}
    result |= {name: int(enum[given[name].upper()]) for name, enum in _KEYWORDS.items()}
    result |= {"disableflags": 0, "enableflags": 0, "disableactuator": 0}
    for name, value in spec.flag.items():
        if name.upper() in DisableBit.__members__:
            result["disableflags"] |= int(DisableBit[name.upper()]) * (value == "disable")
        else:
            result["enableflags"] |= int(EnableBit[name.upper()]) * (value == "enable")
    for group in np.atleast_1d(given.get("actuatorgroupdisable", ())).astype(int):
        if not 0 <= group <= 30:
            raise spec.error("option", f"attribute 'actuatorgroupdisable' has {group}, must be from 0 to 30")
        result["disableactuator"] |= 1 << int(group)
    if spec.flag.get("ipc") == "enable":
        if given["integrator"] != "discrete":
            raise spec.error("option", f"flag ipc needs integrator 'discrete', not '{given['integrator']}'")
        if given["solver"] == "PGS":
            raise spec.error("option", "flag ipc needs solver 'Newton' or 'CG', not 'PGS'")
    return result


def statistics(spec: Spec) -> dict[str, Any]:
    """Return what the file gives of mjStatistic's fields."""
    return {name: np.array(value, float) for name, value in spec.statistic.items() if value is not None}


def visual(spec: Spec) -> Visual:
    """Return how the file wants the model drawn."""
    given = dict(spec.visual)
    given["headlight"] = given["headlight"] | {"active": keywords.HEADLIGHT[given["headlight"]["active"]]}
    return visual_from(given)


def context(spec: Spec) -> Context:
    """Return the compiler's settings; the sizes of user data are still open."""
    return Context(
        spec=spec,
        own=settings(spec.compiler),
        discards=spec.compiler["discardvisual"],
        settotalmass=spec.compiler["settotalmass"],
        znear=spec.visual["map"]["znear"],
        names=Names(),
        user={},
    )


def user_size(spec: Spec, size: str, attributes: list[Mapping[str, Any]]) -> int:
    """Return how many user values the objects of a kind have: as <size> says, else as many as the longest has."""
    given = int(spec.size[size])
    if given > MAX_USER:
        raise spec.error("size", f"attribute '{size}' is {given}, must be at most {MAX_USER}")
    if given >= 0:
        return given
    lengths = [np.size(a["user"]) for a in attributes if a.get("user") is not None]
    return max(lengths, default=0)
