"""Models with composites: one a feature, small. MuJoCo 3.1.6 compiled them for composite_reference.npz."""


def world(inside: str, more: str = "") -> str:
    """Return a model with something in its world, and other sections before it."""
    return f"<mujoco>{more}<worldbody>{inside}</worldbody></mujoco>"


def composite(kind: str, attributes: str, children: str = '<geom size=".02"/>', prefix: str = "p") -> str:
    """Return a composite."""
    return f'<composite type="{kind}" prefix="{prefix}" {attributes}>{children}</composite>'


CAPSULE = '<geom type="capsule" size=".02"/>'
BOX = '<geom type="box" size=".1 .02 .01"/>'
CURVE = 'curve="cos(s) sin(s) s" size="1 .3 2"'
STIFFNESS = '<config key="twist" value="1e3"/><config key="bend" value="2e3"/>'
PLUGIN = f'<plugin plugin="mujoco.elasticity.cable">{STIFFNESS}{{}}</plugin>'
DECLARED = '<extension><plugin plugin="mujoco.elasticity.cable"/></extension>'
JOINT = (
    '<joint kind="main" group="1" stiffness="2" damping=".3" armature=".1" range="-.1 .2" margin=".01"'
    ' frictionloss=".4" solreflimit=".05" solimplimit=".8" solreffriction=".03" solimpfriction=".7" limited="false"'
    ' solreffix=".07" solimpfix=".6"/>'
)
TENDON = (
    '<tendon kind="main" group="2" stiffness="5" damping=".2" range="0 1" margin=".02" width=".004" rgba="1 0 0 1"'
    ' material="m" frictionloss=".1" solreffix=".08" solimpfix=".5 .6" solreflimit=".06"/>'
)
MATERIAL = '<asset><material name="m"/></asset>'
GEOM = (
    '<geom size=".02" contype="2" conaffinity="4" condim="4" group="2" priority="3" friction=".5 .1" solmix="2"'
    ' solref=".03" solimp=".8 .9" margin=".01" gap=".001" material="m" rgba="0 1 0 1" mass=".3"/>'
)
SITE = '<site group="1" size=".03" material="m" rgba="0 0 1 1"/>'
DEFAULTS = (
    '<default><geom contype="4" friction=".3" rgba="1 0 0 1" condim="6" density="50" group="4" material="m"/>'
    '<joint damping="7" armature=".2" stiffness="1"/><tendon width=".01" stiffness="3" springlength=".5"/>'
    '<site rgba="0 1 0 1" size=".1"/><equality solref=".5 1" solimp=".1 .2"/>'
    '<default class="c"><geom friction=".7"/><joint damping="9"/></default></default>'
)
PAIR = composite("grid", 'count="2 1 1" spacing=".1"')
SQUARE = composite("grid", 'count="2 2 1" spacing=".1"')
STRAIGHT = composite("cable", 'count="4" curve="s"', BOX, "q")
LOOP = composite("loop", 'count="6" spacing=".1"', '<geom type="capsule" size=".02 .03"/>')
CUBE = composite("box", 'count="3 3 3" spacing=".1"')

CASES = {
    "grid": world(composite("grid", 'count="3 2 1" spacing=".1" offset="0 .1 1"')),
    "grid_line": world(composite("grid", 'count="4" spacing=".1"', '<geom size=".02"/><pin coord="1"/>')),
    "grid_pin": world(
        composite("grid", 'count="3 3 1" spacing=".1"', '<geom size=".02"/><pin coord="0 0"/><pin coord="2 1"/>')
    ),
    "grid_parts": world(
        composite("grid", 'count="3 2 1" spacing=".1"', f"{JOINT}{TENDON}{GEOM}{SITE}"),
        MATERIAL,
    ),
    "grid_shear": world(
        composite(
            "grid",
            'count="3 3 1" spacing=".1"',
            '<geom size=".02"/><tendon kind="shear" stiffness="3" solreffix=".04"/><skin inflate=".01" group="2"/>',
        )
    ),
    "grid_skin": world(
        composite("grid", 'count="3 4 1" spacing=".1"', '<geom size=".02"/><skin texcoord="true" material="m"/>'),
        MATERIAL,
    ),
    "grid_subgrid": world(
        composite("grid", 'count="4 3 1" spacing=".1"', '<geom size=".02"/><skin texcoord="true" subgrid="2"/>')
    ),
    "grid_subgrid_large": world(
        composite("grid", 'count="5 4 1" spacing=".1"', '<geom size=".02"/><skin subgrid="1" rgba="1 .5 0 1"/>')
    ),
    "grid_in_class": world(
        f'<body name="b" pos="0 0 1" childclass="c">{SQUARE}</body>',
        DEFAULTS + MATERIAL,
    ),
    "grid_in_frame": world(
        f'<body name="b"><frame pos="1 0 0"><geom size=".1"/>{PAIR}'
        '<geom size=".2"/></frame></body>'
    ),
    "order": world(
        f'<body name="z"><geom size=".1"/><site name="s"/></body>{SQUARE}'
        f'<body name="y"><geom size=".1"/></body>{STRAIGHT}',
        '<equality><weld name="w" body1="z"/></equality><contact><exclude body1="z" body2="y"/></contact>'
        '<tendon><spatial name="t"><site site="s"/><site site="pS0_0"/></spatial></tendon>'
        '<actuator><motor joint="pJ0_0_0"/></actuator><custom><text name="x" data="y"/></custom>',
    ),
    "particle": world(composite("particle", 'count="2 1 1" spacing=".1" offset="0 0 1"')),
    "particle_sheet": world(composite("particle", 'count="3 3 1" spacing=".1"', '<geom size=".02"/><skin/>')),
    "particle_subgrid": world(
        composite("particle", 'count="3 3 1" spacing=".1"', '<geom size=".02"/><skin subgrid="3"/>')
    ),
    "particle_block": world(
        composite("particle", 'count="2 3 2" spacing=".1"', '<geom size=".02"/><skin texcoord="true"/>')
    ),
    "particle_joints": world(
        composite(
            "particle",
            'count="2 2 2" spacing=".1"',
            '<geom type="box" size=".02 .03 .04"/><joint kind="particle" type="hinge" axis="1 0 0" damping=".1"/>'
            '<joint kind="particle" type="ball"/>',
        )
    ),
    "particle_main": world(
        composite("particle", 'count="2 1 1" spacing=".1"', '<geom size=".02"/><joint kind="main" damping="2"/>')
    ),
    "particle_vertex": world(
        composite(
            "particle",
            'vertex="0 0 0 .1 0 0 0 .1 0 .1 .1 .3" face="1 2 3 2 4 3"',
            '<geom size=".02"/><skin texcoord="true" inflate=".02"/><tendon kind="main" stiffness="7"/>',
        )
    ),
    "particle_points": world(composite("particle", 'vertex="0 0 0 .1 0 0 0 .1 .7"')),
    "cable": world(composite("cable", 'count="5 1 1" curve="s" size="1" offset="0 0 1"', CAPSULE)),
    "cable_curve": world(composite("cable", f'count="7 1 1" {CURVE} initial="none"', BOX)),
    "cable_diagonal": world(composite("cable", 'count="5" curve="s s 0" size=".4"', CAPSULE)),
    "cable_free": world(
        composite(
            "cable",
            f'count="6 1 1" {CURVE} initial="free"',
            '<geom type="cylinder" size=".02" rgba="1 0 0 1"/><joint kind="main" damping=".2" stiffness="1"/>',
        )
    ),
    "cable_vertex": world(
        composite("cable", 'vertex="0 0 0 .1 0 0 .1 .3 0 .1 .3 .5 .2 .9 .4"', BOX + '<skin texcoord="true"/>')
    ),
    "cable_subgrid": world(
        composite("cable", f'count="5 1 1" {CURVE}', BOX + '<skin texcoord="true" subgrid="2" material="m"/>'),
        MATERIAL,
    ),
    "loop": world(f'<body name="pB2" pos="0 0 1">{LOOP}</body>'),
    "loop_joints": world(
        '<body name="B0" pos="0 0 1"><geom size=".1"/>'
        + composite(
            "loop",
            'count="4 1 1" spacing=".1" solrefsmooth=".04" solimpsmooth=".5"',
            '<geom type="capsule" size=".01 .02"/><joint kind="main" damping=".1"/>'
            '<joint kind="twist" stiffness="3" solreffix=".06"/><joint kind="stretch" damping="4"/>',
            "",
        )
        + '<site name="s"/></body>'
    ),
    "box": world(
        f'<body name="b" pos="0 0 1"><freejoint/>{CUBE}</body>',
    ),
    "box_parts": world(
        '<body name="b" pos="0 0 1">'
        + composite(
            "box",
            'count="2 3 3" spacing=".1" solrefsmooth=".05"',
            f'<geom type="capsule" size=".01 .02"/>{JOINT}{TENDON}<skin texcoord="true" inflate=".01"/>',
        )
        + "</body>",
        MATERIAL,
    ),
    "cylinder": world(composite("cylinder", 'count="3 4 3" spacing=".1"', '<geom size=".02"/><skin texcoord="true"/>')),
    "ellipsoid": world(
        composite(
            "ellipsoid",
            'count="3 3 4" spacing=".1"',
            '<geom type="ellipsoid" size=".01 .02 .03"/><skin texcoord="true"/>',
        )
    ),
}  # fmt: skip
CABLES = {
    "plugin": world(composite("cable", f'count="5 1 1" {CURVE}', PLUGIN.format("") + CAPSULE), DECLARED),
    "plugin_flat": world(
        composite(
            "cable", f'count="5 1 1" {CURVE} initial="free"', PLUGIN.format('<config key="flat" value="true"/>') + BOX
        ),
        DECLARED,
    ),
    "plugin_instance": world(
        composite("cable", f'count="4 1 1" {CURVE} initial="none"', '<plugin instance="i"/>' + CAPSULE)
        + composite("cable", 'count="4 1 1" curve="0 s" offset="2 0 0"', PLUGIN.format("") + CAPSULE, "q"),
        '<extension><plugin plugin="mujoco.elasticity.cable"><instance name="i"><config key="bend" value="5e2"/>'
        '<config key="twist" value="3e2"/></instance></plugin></extension>',
    ),
}
