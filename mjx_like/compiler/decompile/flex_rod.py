"""Elastic rods of a compiled model: the section and the moduli that give their bending and torsion."""

from typing import Any

import numpy as np

from mjx_like.compiler.decompile.source import Source

_PAIR, _BEND, _MORE, _TORSION, _HALF = 3, 4, 5, 8, 9  # indices in a record; a pair's fourth vertex tells it apart
_LARGEST = 0.5 - 1e-6  # Poisson's ratio from which on a shear modulus is written instead


def is_rod(s: Source, i: int) -> bool:
    """Whether a flex is a rod with elasticity."""
    return bool(s["flex_dim"][i] == 1 and s["flex_bendingadr"][i] >= 0)


def records(s: Source, i: int) -> np.ndarray:
    """Records of a rod, shape (n, 10)."""
    start = int(s["flex_bendingadr"][i])
    size = 10 * int(s["flex_bending"][start])
    return np.array(s["flex_bending"][start + 1 : start + 1 + size], float).reshape(-1, 10)


def bending(s: Source, i: int) -> np.ndarray:
    """What is in proportion to Young's modulus."""
    found = records(s, i)
    pair = found[:, _PAIR] >= 0
    return np.concatenate([found[:, _BEND], found[:, _MORE]]) if pair.any() else found[:, _BEND : _MORE + 1].ravel()


def torsion(s: Source, i: int) -> np.ndarray:
    """What is in proportion to the shear modulus."""
    found = records(s, i)
    pair = found[:, _PAIR] >= 0
    return np.concatenate([found[:, _TORSION], np.where(pair, found[:, _HALF], 0)])


def section(s: Source, i: int) -> dict[str, Any]:
    """Attributes of the cross section: a box of which the records tell both half-sizes, or a circle."""
    found = records(s, i)
    half = found[0, _HALF]
    if found[0, _PAIR] >= 0 or not half:
        return {"section": "circle"}
    small = abs(half)
    large = small * np.sqrt(1 + found[0, _MORE] / found[0, _BEND])
    return {"section": "box", "sectionsize": np.array([large, small] if half > 0 else [small, large])}


def moduli(young: float, shear: float) -> dict[str, float]:
    """Attributes that give Young's modulus and the shear modulus."""
    poisson = young / (2 * shear) - 1 if shear > 0 else 0.0
    if -1e-9 < poisson < _LARGEST:
        return {"young": young, "poisson": max(poisson, 0.0)}
    return {"young": young, "shear": shear}
