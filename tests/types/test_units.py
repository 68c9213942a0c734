"""Units of leaves against the dimensions in MuJoCo's reference."""

import pathlib
import re

import mujoco
import pytest

from mjx_like.types.model import Model
from mjx_like.types.option import OptionFloats, Statistic
from mjx_like.types.pytree import leaves

REFERENCE = pathlib.Path(mujoco.__file__).parent / "doc" / "XMLunits.rst"

# Q is the unit of a joint, a tendon or an actuator, F that of its force.
DIMENSIONS = {
    "1": "1",
    "A": "deg",
    "F": "N or N m",
    "F Q^-1": "N/m or N m/rad",
    "F Q^-2": "N/m^2 or N m/rad^2",
    "F Q^-3": "N/m^3 or N m/rad^3",
    "F T Q^-1": "N s/m or N m s/rad",
    "F T^2 Q^-1": "kg or kg m^2",
    "F T^2 Q^-2": "N s^2/m^2 or N m s^2/rad^2",
    "F T^3 Q^-3": "N s^3/m^3 or N m s^3/rad^3",
    "L": "m",
    "L T^-1": "m/s",
    "L T^-2": "m/s^2",
    "L^-1": "1/m",
    "L^-2": "1/m^2",
    "M": "kg",
    "M L T^-2": "N",
    "M L^-1 T^-1": "Pa s",
    "M L^-3": "kg/m^3",
    "M L^2": "kg m^2",
    "M T^-1": "N s/m",
    "M T^-2": "N/m",
    "Q": "m or rad",
    "T": "s",
    "T^-1": "1/s",
    "T^-2": "1/s^2",
}
PREFIXES = {
    "option": ("",),
    "statistic": ("",),
    "asset/hfield": ("hfield_",),
    "asset/material": ("mat_",),
    "asset/mesh": ("mesh_",),
    "asset/skin": ("skin_",),
    "skin/bone": ("skin_bone",),
    "body": ("body_",),
    "body/inertial": ("body_",),
    "body/joint": ("jnt_", "dof_"),
    "body/geom": ("geom_",),
    "body/site": ("site_",),
    "body/camera": ("cam_",),
    "body/light": ("light_",),
    "contact/pair": ("pair_",),
    "deformable/flex": ("flex_",),
    "flexcomp/contact": ("flex_",),
    "flexcomp/edge": ("flex_edge",),
    "flexcomp/elasticity": ("flex_",),
    "tendon/spatial": ("tendon_",),
    "actuator/general": ("actuator_",),
    "keyframe/key": ("key_",),
}
NAMES = {
    "actuatorfrcrange": ("actfrcrange",),
    "diaginertia": ("inertia",),
    "solimpfriction": ("solimp_fri",),
    "solimplimit": ("solimp", "solimp_lim"),
    "solreffriction": ("solreffriction", "solref_fri"),
    "solreflimit": ("solref", "solref_lim"),
    "springlength": ("lengthspring",),
    "vertex": ("vert",),
}
POLYNOMIALS = ("stiffness", "damping")  # whose higher coefficients are a field of their own
OTHERS = {
    "geom_surfacevel": "m/s (3), rad/s (3)",
    "mesh_vert": "m",  # compiled, so with the scale, which has the unit
}


def expected() -> dict[str, str]:
    """Return the unit of every leaf for which the reference has a dimension."""
    names = {f.name for kind in (OptionFloats, Statistic, Model) for f in leaves(kind)}
    found: dict[str, str] = {}
    for path, cell in re.findall(r"\* - :ref:`([^<`]+)<[^>]*>`\n\s+- (.*)", REFERENCE.read_text()):
        place, _, attribute = path.rpartition("/")
        formats = [re.sub(r"[{}]", "", x).replace("\\,", " ").split(",\\ ") for x in re.findall(r":math:`(.*?)`", cell)]
        for name in (p + n for p in PREFIXES.get(place, ()) for n in NAMES.get(attribute, (attribute,))):
            if name not in names or not formats or name in OTHERS:
                continue
            units = [[DIMENSIONS[x] for x in parts] for parts in formats]
            if attribute in POLYNOMIALS and len(units[0]) == 3:
                found[name + "poly"] = ", ".join(units[0][1:])
                units = [units[0][:1]]
            found[name] = " or ".join(", ".join(parts) for parts in units)
    return found | OTHERS


@pytest.mark.skipif(not REFERENCE.exists(), reason="this mujoco came without its documents")
def test_units_are_those_of_the_reference():
    """Up to a frame, which follows a comma or a semicolon, and the names of components, which follow a colon."""
    units, wanted = (
        {f.name: f.metadata["unit"] for kind in (OptionFloats, Statistic, Model) for f in leaves(kind)},
        expected(),
    )
    wrong = {n: (units[n], u) for n, u in wanted.items() if not re.match(re.escape(u) + r"($|[:;,])", units[n])}
    assert wrong == {}
    assert len(wanted) > 100
