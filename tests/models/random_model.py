# ruff: noqa: E501
"""Random models that move: a few bodies of all joints and shapes, with what acts on them, measures and holds them.

Unlike `tests.compiler.random_world` they are sane: sizes, masses and springs are such that a step is well conditioned,
geoms touch without being deep in each other, and every value is one that the engine runs.
"""

from tests.support.draws import FRAME_SENSORS, SITE_SENSORS, Draws

SIZES = {
    "sphere": (".06", ".1"), "capsule": (".05 .08", ".04 .12"), "ellipsoid": (".06 .08 .1", ".1 .05 .07"),
    "cylinder": (".06 .08", ".09 .05"), "box": (".06 .08 .05", ".05 .05 .1"),
}  # fmt: skip
TENT = "0 0 .12  .1 0 -.06  -.05 .09 -.06  -.05 -.09 -.06  -.04 0 .1"
FLAGS = (
    "frictionloss",
    "limit",
    "contact",
    "spring",
    "damper",
    "gravity",
    "clampctrl",
    "warmstart",
    "filterparent",
    "actuation",
    "refsafe",
    "eulerdamp",
    "nativeccd",
    "multiccd",
    "sensor",
    "equality",
)
TIED = ("nativeccd",)  # rounding decides among the corners of its portals
SWITCHES = ("energy", "fwdinv", "invdiscrete", "override")
CONTACT = {
    "condim": lambda w: w.one("1", "3", "4", "6"),
    "friction": lambda w: w.one("1 .01 .001", ".3", ".7 .05 .01"),
    "solref": lambda w: w.one(".02 1", ".01 .7", "-2000 -40"),
    "solimp": lambda w: w.one(".8 .9 .01", ".9 .95 .001 .5 2", ".5 .9 .02 .4 3"),
    "margin": lambda w: w.one(".01", ".03"),
    "gap": lambda w: ".005",
    "priority": lambda w: w.one("0", "1"),
    "solmix": lambda w: w.one(".5", "2"),
    "surfacevel": lambda w: w.one(".1 0 0 0 0 0", "0 0 0 0 .2 .5"),
    "adhesion": lambda w: w.one("1", "3"),
    "fluidshape": lambda w: "ellipsoid",
}
JOINT = {
    "range": lambda w: w.one("-10 30", "-60 5"),
    "stiffness": lambda w: w.one("2", "5 1", "3 .5 2"),
    "damping": lambda w: w.one(".3", ".2 .1", ".5 .1 .05"),
    "springref": lambda w: w.numbers(1, -20, 20),
    "ref": lambda w: w.numbers(1, -20, 20),
    "armature": lambda w: w.one(".01", ".1"),
    "frictionloss": lambda w: w.one(".05", ".3"),
    "margin": lambda w: w.one("5", "20"),
    "solreflimit": lambda w: w.one(".02 1", "-1000 -20"),
    "actuatorfrcrange": lambda w: "-1 2",
    "actuatorgravcomp": lambda w: "true",
}
SLIDE = JOINT | {
    "range": lambda w: w.one("-.05 .1", "-.2 .02"),
    "springref": lambda w: ".1",
    "ref": lambda w: "-.05",
    "margin": lambda w: ".02",
}
TENDON = {
    "stiffness": lambda w: w.one("10", "5 2"),
    "damping": lambda w: w.one(".5", ".2 .1"),
    "frictionloss": lambda w: ".2",
    "armature": lambda w: ".05",
    "range": lambda w: w.one(".1 .3", ".2 .6"),
    "margin": lambda w: ".05",
    "springlength": lambda w: w.one(".1", ".1 .3"),
    "actuatorfrcrange": lambda w: "-1 1",
}
ACTUATOR = {
    "ctrlrange": lambda w: w.one("-.5 .5", "0 1"),
    "forcerange": lambda w: "-2 1",
    "gear": lambda w: w.one("2", "-1 .5 .2 1 .3 -.4"),
    "delay": lambda w: '.01" nsample="4',
}
OWN = {
    "motor": {},
    "position": {"kp": lambda w: "10", "kv": lambda w: ".5", "timeconst": lambda w: ".05"},
    "velocity": {"kv": lambda w: "1"},
    "intvelocity": {"kp": lambda w: "5", "actrange": lambda w: "-1 1"},
    "damper": {"kv": lambda w: "1", "ctrlrange": lambda w: "0 1"},
    "cylinder": {"timeconst": lambda w: ".1", "area": lambda w: ".5", "bias": lambda w: ".1 .2 .3"},
    "general": {
        "gainprm": lambda w: "2 .5 .1",
        "biasprm": lambda w: ".1 -3 -.2",
        "biastype": lambda w: w.one("none", "affine"),
        "gaintype": lambda w: w.one("fixed", "affine"),
        "dyntype": lambda w: w.one("none", "integrator", "filter", "filterexact"),
        "dynprm": lambda w: ".1",
        "actearly": lambda w: w.one("true", "false"),
    },
    "muscle": {"timeconst": lambda w: ".02 .05", "force": lambda w: "5", "range": lambda w: ".8 1.1", "lengthrange": lambda w: ".05 .6"},
    "orientation": {},
    "dcmotor": {"motorconst": lambda w: ".05", "resistance": lambda w: "2"},
    "pid": {"kp": lambda w: "5"},
}  # fmt: skip


class Scene(Draws):
    """A random model; `text()` is its file."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.names: dict[str, list[str]] = {
            kind: []
            for kind in ("body", "geom", "site", "camera", "tendon", "actuator", "hinge", "slide", "ball", "round")
        }
        self.count = 0
        self.shapes = [*self.rng.choice(list(SIZES), 2, replace=False), *(["mesh"] if self.chance(0.3) else [])]

    def named(self, kind: str) -> str:
        self.count += 1
        self.names[kind].append(f"{kind}{self.count}")
        return f'name="{kind}{self.count}"'

    def two(self, kind: str) -> tuple[str, str] | None:
        names = self.names[kind]
        return tuple(map(str, self.rng.choice(names, 2, replace=False))) if len(names) > 1 else None

    def turn(self) -> str:
        return self.one(
            "",
            f'quat="{self.numbers(4, -1, 1)}"',
            f'euler="{self.numbers(3, -90, 90)}"',
            f'axisangle="{self.numbers(4, 0.1, 1)}"',
        )

    def geom(self, offset: float = 0.03) -> str:
        kind = self.one(*self.shapes)
        form = 'type="mesh" mesh="tent"' if kind == "mesh" else f'type="{kind}" size="{self.one(*SIZES[kind])}"'
        mass = self.one('density="500"', 'mass=".7"', "")
        name = self.named("geom")
        if kind in ("sphere", "cylinder"):
            self.names["round"].append(self.names["geom"][-1])
        return f'<geom {name} {form} pos="{self.numbers(3, -offset, offset)}" {self.turn()} {mass} {self.some(CONTACT, 0.15)}/>\n'

    def joints(self, top: bool) -> str:
        kind = (
            self.one("free", "hinge", "slide", "ball", "several")
            if top
            else self.one("hinge", "slide", "ball", "several", "none")
        )
        if kind == "free":
            return self.one("<freejoint/>", '<joint type="free" damping=".1" armature=".01"/>')
        if kind == "ball":
            more = self.some({k: JOINT[k] for k in ("stiffness", "damping", "armature", "frictionloss")}, 0.3)
            return f'<joint {self.named("ball")} type="ball" {more} {self.one("", chr(114) + "ange=" + chr(34) + "0 25" + chr(34))}/>'
        if kind == "none":
            return ""
        kinds = [self.one("hinge", "slide") for _ in range(2)] if kind == "several" else [kind]
        return "".join(
            f'<joint {self.named(k)} type="{k}" axis="{self.numbers(3, -1, 1)}" pos="{self.numbers(3, -0.05, 0.05)}" {self.some(SLIDE if k == "slide" else JOINT, 0.25)}/>\n'
            for k in kinds
        )

    def body(self, depth: int) -> str:
        place = (
            f"{self.numbers(2, -0.25, 0.25)} {self.numbers(1, 0.06, 0.2)}" if depth == 0 else self.numbers(3, -0.2, 0.2)
        )
        gravcomp = self.one("", "", 'gravcomp=".6"')
        inertial = (
            '<inertial pos=".01 0 .02" mass=".8" diaginertia=".004 .005 .006" euler="10 20 30"/>'
            if self.chance(0.2)
            else ""
        )
        parts = self.joints(depth == 0) + inertial + "".join(self.geom() for _ in range(self.rng.integers(1, 3)))
        parts += "".join(
            f'<site {self.named("site")} type="{self.one(*SIZES)}" size=".05 .06 .07" pos="{self.numbers(3, -0.1, 0.1)}" {self.turn()}/>\n'
            for _ in range(self.rng.integers(1, 3))
        )
        if self.chance(0.3):
            parts += f'<camera {self.named("camera")} mode="{self.one("fixed", "track", "trackcom")}" pos="0 0 .3"/>'
        if depth < 2:
            parts += "".join(self.body(depth + 1) for _ in range(self.rng.integers(0, 2)))
        return f'<body {self.named("body")} pos="{place}" {self.turn()} {gravcomp}>{parts}</body>\n'

    def settings(self) -> str:
        flags = " ".join(f'{name}="disable"' for name in FLAGS if self.chance(0.04) and name not in TIED)
        flags += " " + " ".join(f'{name}="enable"' for name in SWITCHES if self.chance(0.08))
        option = self.some({
            "timestep": lambda w: w.one(".001", ".004"),
            "gravity": lambda w: w.one("0 0 -9.81", "1 2 -8"),
            "wind": lambda w: ".5 -.3 .2",
            "density": lambda w: w.one("1.2", "100"),
            "viscosity": lambda w: ".1",
            "magnetic": lambda w: "0 .3 -.4",
            "cone": lambda w: "elliptic",
            "impratio": lambda w: w.one("3", "10"),
            "integrator": lambda w: w.one("RK4", "implicit", "implicitfast", "discrete"),
            "solver": lambda w: w.one("CG", "PGS"),
            "jacobian": lambda w: w.one("dense", "sparse"),
            "o_margin": lambda w: ".02",
            "noslip_iterations": lambda w: "3",
        }, 0.25)  # fmt: skip
        compiler = self.some({
            "eulerseq": lambda w: w.one("xyz", "ZYX"),
            "boundinertia": lambda w: ".001",
            "inertiafromgeom": lambda w: "true",
            "balanceinertia": lambda w: "true",
        }, 0.1)  # fmt: skip
        return f"<compiler {compiler}/><option {option}><flag {flags}/></option>"

    def ground(self) -> str:
        return self.one(
            '<geom name="floor" type="plane" size="2 2 .1"/>',
            '<geom name="floor" type="plane" size="2 2 .1" euler="5 10 0" margin=".01"/>',
            '<geom name="floor" type="hfield" hfield="hills"/>',
            '<geom name="floor" type="box" size=".4 .4 .05" pos="0 0 -.03"/>',
        )

    def mocap(self) -> str:
        return '<body name="hand" mocap="true" pos=".1 .1 .3"><geom size=".03"/></body>' if self.chance(0.2) else ""

    def contacts(self) -> str:
        found = ""
        if (geoms := self.two("geom")) and self.chance(0.3):
            own = {
                "condim": CONTACT["condim"],
                "margin": CONTACT["margin"],
                "friction": lambda w: ".5 .8 .01 .02 .03",
                "solreffriction": lambda w: ".03 1",
            }
            found += f'<pair geom1="{geoms[0]}" geom2="{geoms[1]}" {self.some(own, 0.4)}/>'
        if (bodies := self.two("body")) and self.chance(0.3):
            found += f'<exclude body1="{bodies[0]}" body2="{bodies[1]}"/>'
        return f"<contact>{found}</contact>"

    def tendons(self) -> str:
        found = ""
        for _ in range(self.rng.integers(0, 3)):
            joints, sites = self.names["hinge"] + self.names["slide"], self.names["site"]
            if self.chance(0.5) and joints:
                chosen = self.rng.choice(joints, min(len(joints), 2), replace=False)
                path = "".join(f'<joint joint="{joint}" coef="{self.numbers(1, -1, 1)}"/>' for joint in chosen)
                found += f"<fixed {self.named('tendon')} {self.some(TENDON, 0.3)}>{path}</fixed>\n"
            elif len(sites) > 1:
                first, last = self.rng.choice(sites, 2, replace=False)
                wrap = (
                    f'<geom geom="{self.one(*self.names["round"])}"/>'
                    if self.names["round"] and self.chance(0.5)
                    else ""
                )
                pulley = f'<pulley divisor="2"/><site site="{last}"/><site site="{first}"/>' if self.chance(0.2) else ""
                path = f'<site site="{first}"/>{wrap}<site site="{last}"/>{pulley}'
                found += f"<spatial {self.named('tendon')} {self.some(TENDON, 0.3)}>{path}</spatial>\n"
        return f"<tendon>{found}</tendon>"

    def equality(self) -> str:
        found, own = (
            "",
            {"solref": CONTACT["solref"], "solimp": CONTACT["solimp"], "active": lambda w: w.one("true", "false")},
        )
        for _ in range(self.rng.integers(0, 3)):
            bodies, sites, more = self.two("body"), self.two("site"), self.some(own, 0.3)
            kind = self.one("connect", "sites", "weld", "joint", "tendon")
            joints, tendons = self.names["hinge"] + self.names["slide"], self.names["tendon"]
            if kind == "connect" and bodies:
                found += (
                    f'<connect body1="{bodies[0]}" body2="{bodies[1]}" anchor="{self.numbers(3, -0.1, 0.1)}" {more}/>'
                )
            elif kind == "weld" and bodies:
                found += f'<weld body1="{bodies[0]}" body2="{bodies[1]}" torquescale=".5" {more}/>'
            elif kind == "sites" and sites:
                found += f'<{self.one("connect", "weld")} site1="{sites[0]}" site2="{sites[1]}" {more}/>'
            elif kind == "joint" and joints:
                other = f'joint2="{self.one(*joints)}"' if len(joints) > 1 and self.chance(0.5) else ""
                other = other if f'"{joints[0]}"' not in other else ""
                found += f'<joint joint1="{joints[0]}" {other} polycoef=".05 .5 .2 -.1 .1" {more}/>'
            elif kind == "tendon" and tendons:
                found += f'<tendon tendon1="{tendons[0]}" polycoef=".02 1 0 0 0" {more}/>'
        return f"<equality>{found}</equality>"

    def target(self, tag: str) -> str:
        kinds = {
            "hinge": "joint",
            "slide": "joint",
            "tendon": "tendon",
            "site": "site",
            "ball": "joint",
            "body": "body",
        }
        kind = (
            "ball"
            if tag == "orientation"
            else "body"
            if tag == "general" and self.chance(0.1)
            else self.one(*list(kinds)[:5])
        )
        if tag in ("muscle", "pid", "dcmotor") and kind == "ball":
            kind = "hinge"
        return f'{kinds[kind]}="{self.one(*self.names[kind])}"' if self.names[kind] else ""

    def actuators(self) -> str:
        found = ""
        for _ in range(self.rng.integers(0, 4)):
            tag = self.one(*OWN)
            target = self.target(tag)
            if target:
                own = self.some(OWN[tag], 0.5 if tag not in ("dcmotor", "muscle") else 1)
                rest = self.some(
                    {
                        k: v
                        for k, v in ACTUATOR.items()
                        if f"{k}=" not in own and tag not in ("damper", "orientation", "dcmotor", "pid")
                    },
                    0.2,
                )
                found += f"<{tag} {self.named('actuator')} {target} {own} {rest}/>\n"
        return f"<actuator>{found}</actuator>"

    def sensors(self) -> str:
        found = ""
        one_of = {
            **dict.fromkeys(SITE_SENSORS, "site"), "jointpos": "hinge", "jointvel": "slide", "ballquat": "ball", "ballangvel": "ball",
            "jointlimitfrc": "hinge", "jointactuatorfrc": "hinge", "actuatorfrc": "actuator", "actuatorpos": "actuator", "tendonpos": "tendon",
            "tendonvel": "tendon", "tendonactuatorfrc": "tendon", "subtreecom": "body", "subtreelinvel": "body", "subtreeangmom": "body",
        }  # fmt: skip
        kinds = (
            *one_of,
            *FRAME_SENSORS,
            "distance",
            "normal",
            "fromto",
            "contact",
            "clock",
            "e_potential",
            "e_kinetic",
            "insidesite",
        )
        for _ in range(self.rng.integers(2, 9)):
            tag, more = (
                self.one(*kinds),
                self.some({"cutoff": lambda w: ".5", "nsample": lambda w: '3" delay="0.01'}, 0.1),
            )
            if tag in one_of and self.names[one_of[tag]]:
                kind = one_of[tag]
                word = "joint" if kind in ("hinge", "slide", "ball") else kind
                found += f'<{tag} {word}="{self.one(*self.names[kind])}" {more}/>\n'
            elif tag in FRAME_SENSORS:
                kind = self.one(*(k for k in ("body", "geom", "site", "camera") if self.names[k]))
                ref = (
                    f'reftype="site" refname="{self.one(*self.names["site"])}"'
                    if self.chance(0.4) and "acc" not in tag
                    else ""
                )
                found += f'<{tag} objtype="{kind}" objname="{self.one(*self.names[kind])}" {ref} {more}/>\n'
            elif tag in ("distance", "normal", "fromto") and (geoms := self.two("geom")):
                found += f'<{tag} geom1="{geoms[0]}" geom2="{geoms[1]}" cutoff="1"/>\n'
            elif tag == "contact":
                side = self.one(
                    f'geom1="{self.one(*self.names["geom"])}"', f'body1="{self.one(*self.names["body"])}"', ""
                )
                found += f'<contact {side} num="{self.one("1", "3")}" data="found force dist normal" reduce="{self.one("none", "mindist", "maxforce", "netforce")}"/>\n'
            elif tag == "insidesite":
                found += f'<insidesite site="{self.one(*self.names["site"])}" objtype="body" objname="{self.one(*self.names["body"])}"/>\n'
            elif tag in ("clock", "e_potential", "e_kinetic"):
                found += f"<{tag} {more}/>\n"
        return f"<sensor>{found}</sensor>"

    def text(self) -> str:
        heights = self.numbers(20, 0, 1)
        assets = f'<asset><mesh name="tent" vertex="{TENT}"/><hfield name="hills" nrow="4" ncol="5" size=".6 .6 .1 .1" elevation="{heights}"/></asset>'
        world = self.ground() + self.mocap() + "".join(self.body(0) for _ in range(self.rng.integers(1, 4)))
        rest = self.contacts() + self.tendons() + self.equality() + self.actuators() + self.sensors()
        return f"<mujoco>{self.settings()}{assets}<worldbody>\n{world}</worldbody>{rest}</mujoco>"
