"""Flexes of a compiled model, and the elasticity that gives their stiffness."""

from typing import Any

import numpy as np

from mjx_like.compiler.decompile import flex_grid, flex_rod
from mjx_like.compiler.decompile.source import Source, said, word
from mjx_like.errors import ModelError
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.schema import keywords as k
from mjx_like.types.enums import ObjType

# Two materials whose stiffness spans that of all: Young's modulus and Poisson's ratio, thickness 1.
TRIALS = ((2.0, 0.0), (1.0, 0.25))
_CLOSE = 1e-4  # share of the stiffness that a fitted elasticity may miss, single precision included
_FOLD = 6  # index of the thickness in the first record of a flex that folds
_ROW = {2: 21, 3: 24}  # numbers in the stiffness record of a triangle or tetrahedron


def flexes(s: Source) -> list[Element]:
    """Flexes without their elasticity, which follows from `trial` and `material`."""
    return [_flex(s, index) for index in range(s["nflex"])]


def _flex(s: Source, i: int) -> Element:
    label, dim = s.label(ObjType.FLEX, i), int(s["flex_dim"][i])
    part = slice(s["flex_vertadr"][i], s["flex_vertadr"][i] + s["flex_vertnum"][i])
    vert = s["flex_vert"][part]
    if s["flex_interp"][i]:
        points = flex_grid.nodes(s, i) | {"vertex": np.ravel(vert)}
    else:
        bodies = s["flex_vertbodyid"][part]
        same = bool((bodies == bodies[0]).all())
        names = [s.named(ObjType.BODY, body, label) for body in (bodies[:1] if same else bodies)]
        points = {"body": " ".join(names), "vertex": np.ravel(vert) if same or vert.any() else None}
    data = slice(s["flex_elemdataadr"][i], s["flex_elemdataadr"][i] + (dim + 1) * s["flex_elemnum"][i])
    material = int(s["flex_matid"][s["flex_elemadr"][i]])
    attrib: dict[str, Any] = {
        "name": s.name(ObjType.FLEX, i), "dim": dim,
        "element": np.array(s["flex_elem"][data], float), "group": int(s["flex_group"][i]),
        "radius": float(s["flex_radius"][i]), "rgba": s["flex_rgba"][i], "flatskin": bool(s["flex_flatskin"][i]),
        "material": s.named(ObjType.MATERIAL, material, label) if material >= 0 else None,
    } | points  # fmt: skip
    if dim == 1 and flex_rod.is_rod(s, i) and flex_rod.section(s, i)["section"] == "box":
        attrib["radius"] = None  # it is the smaller half-size
    if s["flex_texcoordadr"][i] >= 0:
        later = s["flex_texcoordadr"][i + 1 :]
        end = later[later >= 0][0] if (later >= 0).any() else s["nflextexcoord"]
        attrib["texcoord"] = np.ravel(s["flex_texcoord"][s["flex_texcoordadr"][i] : end])
        attrib["elemtexcoord"] = np.array(s["flex_elemtexcoord"][data], float)
    contact = {name: s[f"flex_{name}"][i] for name in ("friction", "solref", "solimp")}
    for name in ("contype", "conaffinity", "condim", "priority", "activelayers"):
        contact[name] = int(s[f"flex_{name}"][i])
    contact |= {name: float(s[f"flex_{name}"][i]) for name in ("solmix", "margin", "gap")}
    contact |= {"passive": bool(s["flex_passive"][i]), "selfcollide": word(k.FLEX_SELF, s["flex_selfcollide"][i])}
    edge = {name: float(s[f"flex_edge{name}"][i]) for name in ("stiffness", "damping")}
    elasticity = {"damping": float(s["flex_damping"][i]), "yield": s["flex_yield"][i]}
    children = [
        said("contact", contact, kind="flex_contact"), said("edge", edge, kind="flex_edge"),
        said("elasticity", elasticity),
    ]  # fmt: skip
    return said("flex", attrib, children)


def elastic(s: Source, i: int) -> bool:
    """Whether a flex has elasticity, or modes of strain that depend on a thickness."""
    if s["flex_interp"][i] > 0 and flex_grid.strained(s, i):
        return False
    return bool(s["flex_stiffnessadr"][i] >= 0 or s["flex_bendingadr"][i] >= 0)


def give(element: Element, **attrib: Any) -> None:
    """Write attributes of the elasticity of a flex."""
    element.find("elasticity").attrib.update(attrib)


def trial(s: Source, i: int, young: float, poisson: float) -> dict[str, Any]:
    """Elasticity of the kind that a flex has, with a material of TRIALS."""
    if flex_rod.is_rod(s, i):
        return {"young": young, "poisson": poisson} | flex_rod.section(s, i)
    found = _kind(s, i)
    if s["flex_interp"][i] and flex_grid.strained(s, i):
        young = young if found == "bend" else 0.0
    shell = {} if found == "none" else {"elastic2d": found, "thickness": 1.0}
    return {"young": young, "poisson": poisson} | shell


def _kind(s: Source, i: int) -> str:
    """Which elasticity a shell has, none for a solid."""
    if s["flex_interp"][i]:
        return flex_grid.kind(s, i)
    if s["flex_dim"][i] == 3:
        return "none"
    stretch, bend = _stiffness(s, i).any(), s["flex_bendingadr"][i] >= 0
    return "both" if stretch and bend else "bend" if bend else "stretch"


def _stiffness(s: Source, i: int) -> np.ndarray:
    """Stiffness records of a flex, without the thickness in the first one."""
    if s["flex_interp"][i]:
        return flex_grid.stiffness(s, i)
    start, row = int(s["flex_stiffnessadr"][i]), _ROW[int(s["flex_dim"][i])]
    found = np.array(s["flex_stiffness"][start : start + row * s["flex_elemnum"][i]] if start >= 0 else (), float)
    if len(found) and s["flex_plasticmode"][i] & 1:
        found[_FOLD] = 0
    return found


def _bending(s: Source, i: int) -> np.ndarray:
    if s["flex_interp"][i]:
        return flex_grid.bending(s, i)
    start = int(s["flex_bendingadr"][i])
    return np.array(s["flex_bending"][start : start + 17 * s["flex_edgenum"][i]] if start >= 0 else (), float)


def material(s: Source, trials: tuple[Source, Source], i: int) -> dict[str, float]:
    """Young's modulus, and Poisson's ratio or the shear modulus, and thickness of a flex.

    trials: the same model with the materials of TRIALS.
    Raises ModelError for a stiffness that no elasticity gives.
    """
    if flex_rod.is_rod(s, i):
        return _rod(s, trials[0], i)
    solid = _kind(s, i) == "none"
    own, bend = _stiffness(s, i), _bending(s, i)
    first, second = (_stiffness(t, i) for t in trials)
    if s["flex_interp"][i] and flex_grid.strained(s, i):
        thickness = _fit(s, i, own, [first])[0]
        rigidity = _fit(s, i, bend, [_bending(trials[0], i) * 6])[0] if bend.any() else 0.0
        return {"young": 12 * rigidity / thickness**3, "poisson": 0.0, "thickness": thickness}
    lame = [_lame(*trial, solid) for trial in TRIALS]
    along = (second - lame[1][1] * first) / lame[1][0]  # of the first Lame constant; `first` is of the second alone
    la, mu = _fit(s, i, own, [along, first]) if own.any() else (0.0, 0.0)
    if solid:
        poisson = la / (2 * (la + mu))
        return {"young": 2 * mu * (1 + poisson), "poisson": max(poisson, 0.0)}
    poisson = max(la / (la + 2 * mu), 0.0) if mu else 0.0
    tension = 2 * mu * (1 + poisson)
    rigidity = _fit(s, i, bend, [_bending(trials[0], i) * 6])[0] if bend.any() else 0.0
    thickness = 2 * float(s["flex_radius"][i]) or 0.01
    if tension and rigidity:
        thickness = float(np.sqrt(12 * rigidity * (1 - poisson**2) / tension))
    elif s["flex_plasticmode"][i] & 1:
        thickness = float(s["flex_stiffness"][s["flex_stiffnessadr"][i] + _FOLD])
    young = tension / thickness if tension else 12 * rigidity / thickness**3
    return {"young": young, "poisson": poisson, "thickness": thickness}


def _rod(s: Source, trial: Source, i: int) -> dict[str, float]:
    """Moduli of a rod, by the first material of TRIALS."""
    young, poisson = TRIALS[0]
    twist = flex_rod.torsion(s, i)
    bend = _fit(s, i, flex_rod.bending(s, i), [flex_rod.bending(trial, i)])[0] * young
    shear = _fit(s, i, twist, [flex_rod.torsion(trial, i)])[0] * young / (2 * (1 + poisson)) if twist.any() else 0.0
    return flex_rod.moduli(float(bend), float(shear))


def _lame(young: float, poisson: float, solid: bool) -> tuple[float, float]:
    first = young * poisson / ((1 + poisson) * (1 - 2 * poisson) if solid else 1 - poisson**2)
    return first, young / (2 * (1 + poisson))


def _fit(s: Source, i: int, values: np.ndarray, columns: list[np.ndarray]) -> np.ndarray:
    """Factors of columns whose sum comes closest to some values."""
    table = np.stack(columns, axis=1)
    found = np.linalg.lstsq(table, values, rcond=None)[0]
    if np.abs(table @ found - values).max() > _CLOSE * np.abs(values).max():
        raise ModelError(f"{s.label(ObjType.FLEX, i)}: its flex_stiffness or flex_bending is that of no elasticity")
    return found
