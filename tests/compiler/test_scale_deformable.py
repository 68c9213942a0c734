"""Flexes and skins on bodies in scaled frames, equal to MuJoCo's arrays."""

import mujoco
import pytest

from mjx_like.errors import ModelError
from tests.compiler.compare import compile_source, differences
from tests.mjcf.fuzzing import FILES

SLIDES = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
BODIES = "".join(
    f'<body name="{name}" pos="{pos}">{SLIDES}<geom type="box" size=".1 .1 .1"/></body>'
    for name, pos in (("a", "0 0 0"), ("b", "1 0 0"), ("c", "0 1 0"))
)
TURNED = '<body name="t" euler="0 0 30"><joint axis="0 0 1"/><geom type="box" size=".1 .1 .1" euler="0 0 -30"/></body>'
OUTSIDE = '<body name="o"><geom size=".1"/></body>'
PINNED = """<body name="q" pos="1 1 1"><flexcomp name="f" type="grid" count="3 3 1" spacing=".1 .1 .1" radius=".01"
mass="1" dim="2"><pin id="0"/><contact margin=".01" gap=".01" friction="1 1 1" solimp=".9 .95 .1"/>
<edge equality="true" damping="1"/></flexcomp></body>"""
FLEX = """<deformable><flex name="x" dim="{}" body="{}" vertex="0 0 0 .1 0 0 0 .1 0" element="{}" radius=".01">{}</flex>
</deformable>"""
SHELL = """<contact margin=".1" gap=".1" friction="1 1 1" solimp=".9 .95 .1"/><edge damping="1"/>
<elasticity young="1e4" poisson=".1" damping=".2" thickness=".01" elastic2d="both"/>"""
SKIN = """<deformable><skin name="s" vertex="1 2 3 1 0 0 0 1 0" face="0 1 2" inflate=".1">
<bone body="{}" bindpos="1 2 3" bindquat="1 0 0 0" vertid="0 1 2" vertweight="1 1 1"/>
<bone body="{}" bindpos="1 2 3" bindquat="1 0 0 0" vertid="0" vertweight="1"/></skin></deformable>"""
MODELS = {
    "flexcomp in a body": (PINNED, ""),
    "shell": (BODIES, FLEX.format(2, "a b c", "0 1 2", SHELL)),
    "edges held": (
        BODIES,
        FLEX.format(2, "a b c", "0 1 2", "") + '<equality><flex flex="x" solimp=".9 .95 .1"/></equality>',
    ),
    "rod": (BODIES, FLEX.format(1, "a b c", "0 1 1 2", '<edge stiffness="10" damping="1"/>')),
    "carried by others too": (BODIES, FLEX.format(2, "a b o", "0 1 2", SHELL)),
    "skin": (BODIES, SKIN.format("a", "b")),
    "skin of a turned body": (TURNED, SKIN.format("t", "t")),
}
SCALES = ('scale="2" massscale="5"', 'scale="2" massscale="5" scaling="geometry"', 'scale="2 3 5" scaling="geometry"')


def model(scale: str, tree: str, sections: str) -> str:
    """Return a model with a scaled frame, a body outside it, and these sections."""
    return f"<mujoco><worldbody><frame {scale}>{tree}</frame>{OUTSIDE}</worldbody>{sections}</mujoco>"


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", MODELS)
def test_deformables(name, scale):
    assert differences(model(scale, *MODELS[name])) == {}


def test_a_skin_from_a_file():
    skin = '<asset><skin name="s" file="a.skn"/></asset>'
    xml = f'<mujoco>{skin}<worldbody><frame {SCALES[2]}><body name="b"/></frame></worldbody></mujoco>'
    assert differences(xml, {"a.skn": FILES["a.skn"]}) == {}


def test_bones_of_different_scales():
    xml = model(SCALES[0], BODIES, SKIN.format("a", "o"))
    with pytest.raises(ValueError):
        mujoco.MjModel.from_xml_string(xml)
    with pytest.raises(ModelError, match="the bones of a skin must have the same scale"):
        compile_source(xml)
